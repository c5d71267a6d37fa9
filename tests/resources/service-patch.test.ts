import { describe, expect, it } from '@jest/globals';
import { patchService, toDocument, type Operation, type Snapshot, type Transition } from 'gateway-admin-core';

import { sampleSnapshot } from '../support/document.ts';
import { planted } from '../support/planted.ts';
import { expectAccepted, expectRefused, expectUnchanged, someTime } from '../support/expect-decision.ts';
import { surroundings } from '../support/surroundings.ts';

const patch =
  (...operations: readonly Operation[]): Transition =>
  (snapshot, context) =>
    patchService(snapshot, 'my-service', operations, context);
const settingsOf = (snapshot: Snapshot): object => snapshot.services.find('my-service')?.settings ?? {};
const original = settingsOf(sampleSnapshot());

describe('patching a service', () => {
  it('gives one event and one effect with before, after and the effective operations', () => {
    const { next, events, effects } = expectAccepted(
      patch(
        { op: 'remove', path: '/user' },
        { op: 'add', path: '/filters/-', value: '/filters/spare' },
        { op: 'test', path: '/max_connection', value: 100 },
      ),
    );
    const { user, ...rest } = original as { user: string };
    const after = { ...rest, filters: ['/filters/Query-Log', '/filters/Hint', '/filters/Spare'] };
    expect(user).toBe('service_user');
    expect(events).toMatchObject([
      { type: 'service.updated', service: 'my-service', before: original, after },
    ]);
    expect(effects).toMatchObject([
      { type: 'service.update', resource: '/services/My-Service', before: original, after },
    ]);
    expect(settingsOf(next)).toEqual(after);
    expect(events).toMatchObject([
      {
        operations: [
          { op: 'remove', path: '/user' },
          { op: 'add', path: '/filters/-', value: '/filters/Spare' },
        ],
      },
    ]);
  });

  it('writes links in canonical form', () => {
    const { next } = expectAccepted(
      patch({ op: 'replace', path: '/servers', value: ['/servers/db%20server%202', '/servers/DB-SERV-3'] }),
    );
    expect(settingsOf(next)).toMatchObject({ servers: ['/servers/DB-Server-2', '/servers/db-serv-3'] });
  });

  it('changes nothing if links are only spelled differently', () => {
    expectUnchanged(
      patch({ op: 'replace', path: '/servers', value: ['/servers/DB-SERV-1', '/servers/db%20server%202'] }),
    );
  });

  it('sets the order in which filters are applied', () => {
    const { next } = expectAccepted(patch({ op: 'move', from: '/filters/1', path: '/filters/0' }));
    expect(settingsOf(next)).toMatchObject({ filters: ['/filters/Hint', '/filters/Query-Log'] });
  });

  it('empties the filters on remove, and changes nothing if they are already empty', () => {
    const { next } = expectAccepted(patch({ op: 'remove', path: '/filters' }));
    expect(settingsOf(next)).toMatchObject({ filters: [] });
    expectUnchanged(patch({ op: 'remove', path: '/filters' }), next);
    expect(
      expectAccepted(patch({ op: 'add', path: '/filters/-', value: '/filters/Hint' }), next).outcome,
    ).toBe('accepted');
  });

  it('sets an absent field with replace or add, and unsets the field with remove', () => {
    const bare =
      (...operations: readonly Operation[]): Transition =>
      (snapshot, context) =>
        patchService(snapshot, 'Bare Service', operations, context);
    for (const op of ['add', 'replace'] as const) {
      const { next } = expectAccepted(
        bare({ op, path: '/user', value: 'x' }, { op, path: '/router_options/a', value: 'b' }),
        withOption(),
      );
      expect(next.services.find('bare-service')?.settings).toMatchObject({
        user: 'x',
        router_options: { a: 'b' },
      });
      expect(
        expectAccepted(bare({ op: 'remove', path: '/user' }), next).next.services.find('bare-service')
          ?.settings,
      ).not.toHaveProperty('user');
    }
    expect(expectRefused(bare({ op: 'remove', path: '/user' })).code).toBe('patch-path-missing');
    expect(expectRefused(bare({ op: 'test', path: '/user', value: '' })).code).toBe('patch-path-missing');
    expect(expectRefused(bare({ op: 'replace', path: '/router_options/a', value: 'b' })).code).toBe(
      'patch-path-missing',
    );
  });

  it('compares a test with the representation, times in the zone of the readers', () => {
    const { times } = surroundings;
    for (const [path, value] of [
      ['/name', 'My Service'],
      ['/state', 'started'],
      ['/total_connections', 10],
      ['/current_connections', 2],
      ['/started', '2016-08-29T12:52:31+03:00'],
      ['/filters/0', '/filters/Query-Log'],
    ] as const) {
      expectUnchanged(patch({ op: 'test', path, value }), sampleSnapshot(), { ...someTime, times });
    }
    const inUtc = expectRefused(patch({ op: 'test', path: '/started', value: '2016-08-29T12:52:31+03:00' }));
    expect(inUtc.code).toBe('patch-test-failed');
  });

  // Promise: patch-atomic
  it('applies all operations or none', () => {
    expectRefused(
      patch(
        { op: 'replace', path: '/max_connection', value: 1 },
        { op: 'test', path: '/max_connection', value: 100 },
      ),
    );
    expectRefused(
      patch(
        { op: 'replace', path: '/max_connection', value: 1 },
        { op: 'replace', path: '/name', value: 'x' },
      ),
    );
    expectRefused(
      patch(
        { op: 'replace', path: '/max_connection', value: 1 },
        { op: 'add', path: '/servers/-', value: '/servers/nothing' },
      ),
    );
  });

  it.each<[string, Operation]>([
    ['field-not-modifiable', { op: 'replace', path: '/state', value: 'stopped' }],
    ['field-not-modifiable', { op: 'add', path: '/started', value: 'x' }],
    ['field-not-modifiable', { op: 'copy', from: '/name', path: '/user' }],
    ['field-unknown', { op: 'add', path: '/listeners', value: [] }],
    ['field-unknown', { op: 'add', path: '/passwordSealed', value: 'x' }],
    ['field-unknown', { op: 'test', path: '/passwordSealed', value: 'x' }],
    ['field-unknown', { op: 'add', path: '/__defineGetter__', value: 'x' }],
    ['patch-path-missing', { op: 'test', path: '/servers/length', value: 2 }],
    ['patch-path-missing', { op: 'replace', path: '/servers/map', value: 2 }],
    ['patch-path-missing', { op: 'remove', path: '/router_options/toString' }],
    ['link-unresolved', { op: 'add', path: '/servers/-', value: '/servers/db-serv-1' }],
    ['link-unresolved', { op: 'replace', path: '/servers/0', value: '/filters/Hint' }],
  ])('is refused with %s for %j', (code, operation) => {
    expect(expectRefused(patch(operation)).code).toBe(code);
  });
});

describe('an operation with a bad path and a bad from', () => {
  it('is refused with both', () => {
    const problem = expectRefused(patch({ op: 'copy', from: '/nothing', path: '/router' }));
    expect(problem.errors).toMatchObject([
      { pointer: '/router', operation: 0, code: 'field-not-modifiable' },
      { pointer: '/nothing', operation: 0, code: 'field-unknown' },
    ]);
  });
});

describe('the password of a service', () => {
  const sealed = { sealed: 'v1.another.text' };

  it('is stored sealed, and setting it is always a change', () => {
    for (const value of [sealed, { sealed: planted.sealed }]) {
      const { next } = expectAccepted(patch({ op: 'replace', path: '/password', value }));
      expect(settingsOf(next)).toEqual({ ...original, passwordSealed: value.sealed });
      expect(toDocument(next).services?.[0]?.passwordSealed).toBe(value.sealed);
    }
  });

  it('is unset with remove, and can be set again', () => {
    const { next } = expectAccepted(patch({ op: 'remove', path: '/password' }));
    expect(settingsOf(next)).not.toHaveProperty('passwordSealed');
    expect(expectAccepted(patch({ op: 'add', path: '/password', value: sealed }), next).outcome).toBe(
      'accepted',
    );
  });

  it('is unchanged if it is set and removed again where there was none', () => {
    const { next } = expectAccepted(patch({ op: 'remove', path: '/password' }));
    const [add, remove] = [
      { op: 'add', path: '/password', value: sealed },
      { op: 'remove', path: '/password' },
    ] as const;
    expectUnchanged(patch(add, remove), next);
    expect(expectAccepted(patch(add, remove, add), next).outcome).toBe('accepted');
    expect(expectAccepted(patch(remove, add)).outcome).toBe('accepted');
  });

  it.each<[string, Operation]>([
    ['a test, guessed wrong', { op: 'test', path: '/password', value: 'x' }],
    ['a test, guessed right', { op: 'test', path: '/password', value: planted.sealed }],
    ['a test of the sealed text', { op: 'test', path: '/password', value: { sealed: planted.sealed } }],
    ['a copy of it', { op: 'copy', from: '/password', path: '/user' }],
    ['a copy to it', { op: 'copy', from: '/user', path: '/password' }],
    ['a move of it', { op: 'move', from: '/password', path: '/user' }],
    ['a move to it', { op: 'move', from: '/user', path: '/password' }],
    ['a look inside', { op: 'test', path: '/password/sealed', value: 'x' }],
    ['a write inside', { op: 'add', path: '/password/sealed', value: 'x' }],
  ])('refuses %s, always with the same answer', (_what, operation) => {
    const problem = expectRefused(patch(operation));
    expect(problem).toMatchObject({ code: 'field-write-only', status: 422 });
    expect(problem.detail).toMatch(
      /names a secret, which a patch cannot read or compare; add, replace or remove the whole secret$/,
    );
    expect(JSON.stringify(problem)).not.toContain(planted.sealed);
  });

  it('gives the same answer if there is no password', () => {
    const without = expectAccepted(patch({ op: 'remove', path: '/password' })).next;
    const guess = patch({ op: 'test', path: '/password', value: 'x' });
    expect(expectRefused(guess, without)).toEqual(expectRefused(guess));
  });

  it.each([
    ['plain text', 'x'],
    ['a number', 7],
    ['nothing', null],
    ['an object', {}],
    ['sealed nothing', { sealed: 7 }],
  ])('is refused as %s', (_what, value) => {
    expect(expectRefused(patch({ op: 'add', path: '/password', value })).code).toBe('password-unacceptable');
  });
});

/** The sample with a router option on the bare service, so that `replace` has something to replace. */
function withOption(): Snapshot {
  return patchService(
    sampleSnapshot(),
    'Bare Service',
    [{ op: 'add', path: '/router_options/a', value: 'z' }],
    someTime,
  ).next;
}
