/**
 * Outcomes: the results of the commands in the tables of docs/runtime.md, found out by running the commands.
 */
import {
  createMemoryStore,
  createSnapshot,
  type Admin,
  type ConfigurationStore,
  type StoredHistory,
} from 'gateway-admin-core';
import {
  createScriptedGateway,
  hold,
  type HeldCall,
  type InspectWay,
  type ScriptedGateway,
} from 'gateway-admin-core/testing';

import { otherLife } from '../support/event-reader.ts';
import { openRunning, type Running } from '../support/running-admin.ts';
import { shown } from '../support/shown.ts';

/** What became of a command. */
interface Outcome {
  /** Status and problem code of the answer; empty when there was none. */
  readonly answer: readonly string[];
  /** What GET shows in the end; left out when the process is gone. */
  readonly shown?: string;
  /** The types of the events in the end; where the process is gone, those of the two restarts, each once. */
  readonly told: readonly string[];
  /** What a restart comes to when `inspect` says `in-place`, and when it says `not-in-place`, each once. */
  readonly after: readonly string[];
}

/** What is read of the state. */
export type Look = (admin: Admin) => string;

/** Whether the service is started. */
const stateOfSales: Look = ({ snapshot }) => shown(snapshot.services.find('sales'))?.state ?? 'missing';

const snapshot = createSnapshot({
  services: [{ name: 'Sales', router: 'readconnroute' }],
  monitors: [{ name: 'Main', module: 'pgmon' }],
});

/** A gateway that has what the commands of the page are about. */
export function freshGateway(): ScriptedGateway {
  return createScriptedGateway({ snapshot });
}

/** Longer than all deadlines and pauses that there are before something is known. */
export const longEnoughMs = 60_000;

/** A store whose end a test decides. */
export interface Breakable extends ConfigurationStore {
  /** What the next calls of `append` do; `keep` does what `append` should. */
  breakWith(failure: (keep: () => Promise<string>) => Promise<string>): void;
}

function breakable(store: ConfigurationStore): Breakable {
  let append = (keep: () => Promise<string>): Promise<string> => keep();
  return {
    ...store,
    durable: true,
    append: (records, options) => append(() => store.append(records, options)),
    breakWith: (failure) => (append = failure),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

/** What a scenario has at hand. */
export interface Stage extends Running {
  readonly store: Breakable;
}

/** What a scenario does: it gives the answer of the command; nothing when the process ends before. */
export interface Scenario {
  readonly gateway: ScriptedGateway;
  readonly run: (stage: Stage) => Promise<readonly string[] | undefined>;
  readonly look?: Look;
}

/** Runs a scenario, looks at what it left, and restarts on it. */
export async function outcomeOf({ gateway, run, look = stateOfSales }: Scenario): Promise<Outcome> {
  const memory = createMemoryStore();
  const store = breakable(memory);
  const running = await openRunning(store, { gateway, snapshot });
  const answer = await run({ ...running, store });
  const shown = look(running.admin);
  const restarts = await restartsOn(await memory.load(), look);
  const after = once(restarts.map((restart) => restart.shown));
  if (answer === undefined) return { answer: [], after, told: once(restarts.flatMap(({ told }) => told)) };
  return { answer, shown, told: await toldBy(running), after };
}

interface Restart {
  readonly shown: string;
  readonly told: readonly string[];
}

/** Two restarts on the same history, with a gateway that says yes and one that says no. */
async function restartsOn({ state, records }: StoredHistory, look: Look): Promise<readonly Restart[]> {
  const history = { ...(state === undefined ? {} : { state }), records };
  const restarts: Restart[] = [];
  for (const seen of ['in-place', 'not-in-place'] as const) {
    const gateway = freshGateway().willSee(seen, seen);
    const running = await openRunning(createMemoryStore(history), { gateway, snapshot });
    restarts.push({ shown: look(running.admin), told: await toldBy(running) });
  }
  return restarts;
}

/** The types of the events since the beginning of an interface, to its end; of a row of the same type, one. */
async function toldBy({ admin, clock }: Running): Promise<readonly string[]> {
  const reader = admin.events({ after: otherLife });
  const closing = admin.close();
  await clock.advance(longEnoughMs);
  await closing;
  const types: string[] = [];
  for await (const item of reader)
    if ('event' in item && item.event.type !== types.at(-1)) types.push(item.event.type);
  return types;
}

function once(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)];
}

/** Sends the command of the page, and gives status and problem code. */
export async function send({ admin }: Running, target = '/service/Sales/stop', body?: string) {
  const headers = { 'content-type': 'application/json' };
  const sent = body === undefined ? {} : { body };
  const handled = await admin.handle({ method: 'PUT', target, headers, ...sent });
  if (!handled.matched) throw new Error('There is nothing at this path');
  const { status, body: text } = handled.response;
  const { code } = (typeof text === 'string' ? JSON.parse(text) : {}) as { readonly code?: string };
  return code === undefined ? [String(status)] : [String(status), code];
}

/**
 * A scenario in which the first call is not answered within the deadline, and something happens then. Of what `inspect`
 * says, the last holds for good.
 */
export function silent(
  seen: readonly InspectWay[],
  then: (held: HeldCall, stage: Stage) => unknown = () => undefined,
): Scenario {
  const held = hold();
  return {
    gateway: freshGateway()
      .will(held.apply)
      .willSee(...seen.slice(0, -1))
      .otherwise({ inspect: seen.at(-1) ?? 'answer' }),
    async run(stage) {
      const answer = send(stage);
      await held.begun;
      await stage.clock.advance(stage.admin.limits.effectDeadlineMs);
      const given = await answer;
      await then(held, stage);
      await stage.clock.advance(longEnoughMs);
      return given;
    },
  };
}
