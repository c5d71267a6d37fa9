/**
 * The history of a fleet: the same at each node, with what only one gateway has done beside it.
 */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  closeServiceSessions,
  flushLogs,
  sequence,
  stopService,
  type Json,
  type Transition,
} from 'gateway-admin-core';

import { openedSession } from '../support/opened-session.ts';
import { limit } from '../support/transition.ts';
import { compact, createWorld, storedIn, type Node, type World } from './node.ts';

let world: World;
const nodes: Node[] = [];

beforeEach(() => {
  world = createWorld();
});

afterEach(async () => {
  for (const { admin } of nodes.splice(0)) await admin.close();
});

async function open(name: string, levels?: readonly [number, number]): Promise<Node> {
  const node = await world.open(name, 10_000, levels === undefined ? {} : { levels });
  nodes.push(node);
  return node;
}

interface Shown {
  readonly id: string;
  readonly revision: number;
  readonly events: readonly { readonly type: string }[];
}

async function send(
  { admin }: Node,
  method: string,
  target: string,
): Promise<{ status: number; body: unknown }> {
  const handling = admin.handle({ method, target, headers: {} });
  await world.clock.advance(5000);
  const handled = await handling;
  if (!handled.matched) throw new Error(`There is nothing at ${target}`);
  const { status, body } = handled.response;
  if (body === undefined) return { status, body };
  // A history is sent in pieces.
  const text = typeof body === 'string' ? body : await new Response(body as ReadableStream).text();
  return { status, body: JSON.parse(text) };
}

const list = async (node: Node): Promise<readonly Shown[]> =>
  (await send(node, 'GET', '/history')).body as readonly Shown[];

async function settle({ admin }: Node, transition: Transition): Promise<string> {
  const executing = admin.execute(transition, { actor: 'ada' });
  await world.clock.advance(5000);
  const execution = await executing;
  if (execution.outcome !== 'accepted') throw new Error(`The command is ${execution.outcome}`);
  return execution.events[0]?.command ?? '';
}

const stop: Transition = (snapshot, context) => stopService(snapshot, 'My Service', context);
const drain = sequence(stop, (snapshot, context) => closeServiceSessions(snapshot, 'My Service', context));

describe('the history of a fleet', () => {
  // Promise: history-shared
  it('is the same at each node, and lasts over restarts and compactions', async () => {
    const [one, other] = [await open('one'), await open('other')];
    const ids = [await settle(one, limit(7)), await settle(other, limit(8)), await settle(one, stop)];
    const shown = await list(one);
    expect(shown.map(({ id }) => id)).toEqual(ids.toReversed());
    expect(await list(other)).toEqual(shown);
    // A start of a node compacts nothing, and reads what the others have written.
    await compact(world);
    await world.clock.advance(5000);
    expect(await list(await open('third'))).toEqual(shown);
    expect(await list(other)).toEqual(shown);
  });

  it('undoes at one node what another one has done, and names a later entry of any node', async () => {
    const [one, other] = [await open('one'), await open('other')];
    const [first, second] = [await settle(one, limit(7)), await settle(other, limit(8))];
    expect(await send(other, 'PUT', `/history/${first}/undo`)).toMatchObject({
      status: 409,
      body: { code: 'undo-refused', command: second },
    });
    expect((await send(one, 'PUT', `/history/${second}/undo`)).status).toBe(204);
    expect((await send(other, 'PUT', `/history/${second}/restore`)).status).toBe(204);
    for (const { admin } of nodes)
      expect(admin.snapshot.services.find('my-service')?.settings.max_connection).toBe(8);
  });

  it('has what only one gateway has done at that node alone', async () => {
    const [one, other] = [await open('one'), await open('other')];
    one.admin.report(openedSession(77));
    const flushed = await settle(one, flushLogs);
    const drained = await settle(one, drain);
    const typesAt = async (node: Node): Promise<readonly (readonly string[])[]> =>
      (await list(node)).map(({ id, events }) => [id, ...events.map(({ type }) => type)]);
    expect(await typesAt(one)).toEqual([
      [drained, 'service.stopped', 'sessions.closed'],
      [flushed, 'logs.flushed'],
    ]);
    expect(await typesAt(other)).toEqual([[drained, 'service.stopped']]);
  });

  it('begins once every node can read it, and is no part of the state before', async () => {
    const old = await open('old', [1, 1]);
    const young = await open('young');
    await settle(old, limit(7));
    const stateIn = async (): Promise<object> => (await storedIn(world)).toState() as Record<string, Json>;
    expect(await list(young)).toEqual([]);
    expect(await stateIn()).not.toHaveProperty('entries');
    await old.admin.close();
    nodes.splice(nodes.indexOf(old), 1);
    await world.clock.advance(5000);
    const id = await settle(young, limit(8));
    expect((await list(young)).map((entry) => entry.id)).toEqual([id]);
    expect(await stateIn()).toMatchObject({ level: 2, entries: [{ id }] });
  });
});
