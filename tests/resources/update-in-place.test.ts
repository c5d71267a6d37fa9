import { isDeepStrictEqual } from 'node:util';

import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import {
  isUpdateInPlace,
  patchServer,
  type Decision,
  type Operation,
  type ServerStatusWord,
} from 'gateway-admin-core';

import { patchSubject, subjectPatches } from '../support/arbitrary-patch.ts';
import { sampleSnapshot } from '../support/document.ts';

type UpdateEffect = Parameters<typeof isUpdateInPlace>[0];

function effectOf(decision: Decision): UpdateEffect {
  const [effect] = decision.outcome === 'accepted' ? decision.effects : [];
  if (effect === undefined || !('operations' in effect)) throw new Error('The patch has no effect');
  return effect;
}

function serverEffect(...operations: readonly Operation[]): UpdateEffect {
  return effectOf(patchServer(sampleSnapshot(), 'db-serv-1', operations, { now: 0 }));
}

/** The settings after an update, with other words in the status. */
function reported({ after }: UpdateEffect, ...state: readonly ServerStatusWord[]): object {
  return { ...after, state };
}

/** Whether an update only changes the order of the words of a status, which the next report changes again. */
function isOrderAlone({ before, after }: UpdateEffect): boolean {
  const sorted = (settings: { readonly state?: readonly string[] }): object => ({
    ...settings,
    state: settings.state?.toSorted(),
  });
  return isDeepStrictEqual(sorted(before), sorted(after));
}

describe('isUpdateInPlace', () => {
  it('is false before the update and true after it, whatever the update changes', () => {
    fc.assert(
      fc.property(subjectPatches, ([subject, operations]) => {
        const decision = patchSubject(subject, operations, sampleSnapshot(), { now: 0 });
        if (decision.outcome !== 'accepted') return;
        const effect = effectOf(decision);
        expect(isUpdateInPlace(effect, effect.before)).toBe(isOrderAlone(effect));
        expect(isUpdateInPlace(effect, effect.after)).toBe(true);
        expect(isUpdateInPlace(effect, undefined)).toBe(false);
      }),
    );
  });

  it('is false for a resource that is gone, also if the update changes the order of words alone', () => {
    const turned = effectOf(
      patchServer(sampleSnapshot(), 'db-serv-1', [{ op: 'move', from: '/state/1', path: '/state/0' }], {
        now: 0,
      }),
    );
    expect([isUpdateInPlace(turned, turned.before), isUpdateInPlace(turned, undefined)]).toEqual([
      true,
      false,
    ]);
  });

  it('looks at the entries of a map that the update changes, and at no others', () => {
    const path = '/parameters/report_weight';
    const effect = serverEffect({ op: 'replace', path, value: 3 });
    const other = { ...effect.after, parameters: { report_weight: 3, app_weight: '7' } };
    expect(isUpdateInPlace(effect, other)).toBe(true);
    expect(isUpdateInPlace(effect, { ...other, parameters: { app_weight: '7' } })).toBe(false);
    const removal = serverEffect({ op: 'remove', path });
    expect(isUpdateInPlace(removal, { ...other, parameters: { app_weight: '7' } })).toBe(true);
    expect(isUpdateInPlace(removal, other)).toBe(false);
  });

  it.each(['constructor', '__proto__'])('takes a parameter named %s for any other', (name) => {
    const [without, having] = [{ parameters: {} }, { parameters: { [name]: 7 } }];
    const type = 'server.update';
    const adding = { type, before: without, after: having, operations: [] } as const;
    const removing = { type, before: having, after: without, operations: [] } as const;
    expect([without, having].map((now) => isUpdateInPlace(adding, now))).toEqual([false, true]);
    expect([without, having].map((now) => isUpdateInPlace(removing, now))).toEqual([true, false]);
  });

  it('looks at the words of a status that the update adds or removes, and at no others', () => {
    const effect = serverEffect({ op: 'add', path: '/state/-', value: 'synced' });
    expect(isUpdateInPlace(effect, reported(effect, 'synced'))).toBe(true);
    expect(isUpdateInPlace(effect, reported(effect, 'master', 'running'))).toBe(false);
  });

  it('ignores the words that a monitor reports if the update changes anything else', () => {
    const effect = serverEffect(
      { op: 'replace', path: '/port', value: 1 },
      { op: 'replace', path: '/state', value: ['maintenance', 'running', 'slave'] },
    );
    expect(isUpdateInPlace(effect, reported(effect, 'maintenance'))).toBe(true);
    expect(isUpdateInPlace(effect, reported(effect, 'running', 'slave'))).toBe(false);
    expect(isUpdateInPlace(effect, { ...reported(effect, 'maintenance'), port: 5432 })).toBe(false);
  });
});
