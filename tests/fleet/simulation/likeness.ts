/**
 * What all nodes of a fleet have alike once everything has come to rest: the history of what they share, and the mark
 * of a plan of what they share.
 */
import {
  patchService,
  stopService,
  toDocument,
  type Admin,
  type AdminEvent,
  type Snapshot,
  type Transition,
} from 'gateway-admin-core';

import { wholeDocument } from '../../support/configuration.ts';
import { jsonOf } from '../../support/json-body.ts';
import { isShared } from './judge.ts';
import type { Running } from './node.ts';
import { sumFaults, type AtRest } from './reading-law.ts';

/** An entry of `GET /history`, in what all nodes show alike. */
interface ShownEntry extends Readonly<Record<'id' | 'actor' | 'revision' | 'undoes', unknown>> {
  readonly events: readonly AdminEvent[];
}

/** Transitions of which every node has the same plan. */
const planned: Readonly<Record<string, Transition>> = {
  patch: (state, context) =>
    patchService(state, 'Sales', [{ op: 'replace', path: '/max_connection', value: 4711 }], context),
  stop: (state, context) => stopService(state, 'Sales', context),
};

/** Says in what nodes differ. */
export async function unlikeness(nodes: readonly Pick<Running, 'admin'>[]): Promise<readonly string[]> {
  const [first, ...others] = await Promise.all(nodes.map(shownAt));
  return others.flatMap((other) =>
    Object.keys(other)
      .filter((name) => first?.[name] !== other[name])
      .map((name) => `the nodes differ in ${name}: ${String(first?.[name])} and ${String(other[name])}`),
  );
}

async function shownAt({ admin }: Pick<Running, 'admin'>): Promise<Readonly<Record<string, string>>> {
  const marks = Object.entries(planned).map(([name, transition]) => {
    const plan = admin.plan(transition);
    return [`the mark of a ${name}`, plan.outcome === 'refused' ? plan.problem.code : plan.mark];
  });
  return { ...(Object.fromEntries(marks) as Record<string, string>), 'the history': await historyOf(admin) };
}

/** Says in what the history of a node does not amount to what the node shows. */
export async function sumFaultsAt({ admin }: Running, beginning: Snapshot): Promise<readonly string[]> {
  const handled = await admin.handle({
    ...{ method: 'GET', target: '/history?fields=events&range=0-9999', headers: {} },
    principal: { name: 'judge' },
  });
  const history = (await jsonOf(handled.matched ? handled.response : {})) as AtRest['history'];
  return sumFaults({ beginning: toDocument(beginning), history, document: wholeDocument(admin.snapshot) });
}

/** The entries with what the nodes share; what only one gateway has done stays with its node. */
async function historyOf(admin: Admin): Promise<string> {
  const handled = await admin.handle({
    ...{ method: 'GET', target: '/history?range=0-999', headers: {} },
    principal: { name: 'judge' },
  });
  const entries = (await jsonOf(handled.matched ? handled.response : {})) as readonly ShownEntry[];
  return entries
    .flatMap(({ id, actor, revision, undoes, events }) => {
      const shared = events.filter(isShared);
      return shared.length === 0 ? [] : [JSON.stringify({ id, actor, revision, undoes, shared })];
    })
    .join('\n');
}
