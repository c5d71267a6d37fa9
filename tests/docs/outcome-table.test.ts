import { describe, expect, it } from '@jest/globals';
import {
  EffectRefusedError,
  StoreLostError,
  closeServiceSessions,
  flushLogs,
  problemTable,
  sequence,
  stopMonitor,
  stopService,
  type Transition,
} from 'gateway-admin-core';
import { hold, type ApplyWay, type HeldCall, type ScriptedGateway } from 'gateway-admin-core/testing';

import { read } from '../support/project.ts';
import {
  freshGateway,
  longEnoughMs,
  outcomeOf,
  send,
  silent,
  type Breakable,
  type Look,
  type Scenario,
  type Stage,
} from './outcome.ts';
import { codesOf, tablesOf } from './table.ts';

type Failure = Parameters<Breakable['breakWith']>[0];

const stopTarget = '/service/Sales/stop';
const startTarget = '/service/Sales/start';
const blind = new Error('I cannot see.');
const refuseHeld = (held: HeldCall): void => held.fail(new EffectRefusedError('Busy.'));
const lose = (): Promise<never> => Promise.reject(new Error('The disk is full'));
const taken = (): Promise<never> => Promise.reject(new StoreLostError('The table is gone.'));

/** Says yes, and then no. What it gives is no promise: of one the language itself would ignore the second answer. */
const answerTwice: ApplyWay = (_effect, _context, perform) => {
  perform();
  const thenable: Pick<PromiseLike<void>, 'then'> = {
    then(fulfilled, rejected) {
      const first = Promise.resolve(fulfilled?.());
      rejected?.(new EffectRefusedError('It has changed its mind.'));
      return first as Promise<never>;
    },
  };
  return thenable as Promise<void>;
};

/** The gateway is called as it was told, and the client waits for its answer. */
function called(gateway: ScriptedGateway): Scenario {
  return { gateway, run: waitFor(send) };
}

function waitFor(ask: (stage: Stage) => Promise<readonly string[]>): Scenario['run'] {
  return async (stage) => {
    const answer = ask(stage);
    await stage.clock.settle();
    await stage.clock.advance(longEnoughMs);
    return answer;
  };
}

/** The process ends when the journal is asked for the n-th time. */
function deadAt(append: number, keeps: 'kept' | 'lost'): Scenario {
  return {
    gateway: freshGateway(),
    async run(stage) {
      let count = 0;
      stage.store.breakWith(async (keep) => {
        count += 1;
        if (count < append) return keep();
        if (keeps === 'kept') await keep();
        return new Promise(() => undefined);
      });
      send(stage).catch(() => undefined);
      await stage.clock.settle();
      return undefined;
    },
  };
}

/** How long a store fails: shorter or longer than a client waits, or to the end. */
type Lasting = 'shortly' | 'long' | 'for good';

/** Waits until the client has its answer, and until the store answers again, if it does. */
async function waitOut({ clock, store }: Stage, lasting: Lasting): Promise<void> {
  await clock.settle();
  await clock.advance(lasting === 'shortly' ? 1000 : longEnoughMs);
  if (lasting === 'for good') return;
  store.breakWith((keep) => keep());
  await clock.advance(longEnoughMs);
}

/** The store fails once the gateway is asked, which then ends the call. */
function failsLater(
  end: (held: HeldCall) => void,
  lasting: Lasting = 'for good',
  failure: Failure = lose,
): Scenario {
  const held = hold();
  return {
    gateway: freshGateway().will(held.apply),
    async run(stage) {
      const answer = send(stage);
      await held.begun;
      stage.store.breakWith(failure);
      end(held);
      await waitOut(stage, lasting);
      return answer;
    },
  };
}

function failsAtOnce(failure: Failure, lasting: Lasting = 'for good', ask: typeof send = send): Scenario {
  return {
    gateway: freshGateway(),
    async run(stage) {
      let answer: ReturnType<typeof ask> | undefined;
      // Hashing takes real time, so the clock must not move before the store is called.
      await new Promise<void>((called) => {
        stage.store.breakWith((keep) => {
          called();
          return failure(keep);
        });
        answer = ask(stage);
      });
      await waitOut(stage, lasting);
      return answer;
    },
  };
}

function failsForUser(failure: Failure, lasting: Lasting = 'for good'): Scenario {
  const body = JSON.stringify({ name: 'newcomer', password: 'correct horse' });
  return { ...failsAtOnce(failure, lasting, (stage) => send(stage, '/users', body)), look: newcomer };
}

async function keepAndFail(keep: () => Promise<string>): Promise<never> {
  await keep();
  return lose();
}

/** Whether the user of the scenario is there. */
const newcomer: Look = ({ snapshot }) =>
  snapshot.users.find('newcomer') === undefined ? 'absent' : 'present';

const stopBoth: Transition = sequence(
  (snapshot, context) => stopService(snapshot, 'Sales', context),
  (snapshot, context) => stopMonitor(snapshot, 'Main', context),
);

const stopAndFlush: Transition = sequence(
  (snapshot, context) => stopService(snapshot, 'Sales', context),
  flushLogs,
);

const closeAll: Transition = (snapshot, context) => closeServiceSessions(snapshot, 'Sales', context);

/** The most sessions that one effect closes; see docs/limits.md. */
const teardownBatch = 1000;

/** Whether the session of the second batch is there. */
const lastOfCrowd: Look = ({ snapshot }) =>
  snapshot.sessions.find(teardownBatch) === undefined ? 'absent' : 'present';

async function executeBoth({ admin }: Stage, transition = stopBoth): Promise<readonly string[]> {
  const execution = await admin.execute(transition);
  if (!('problem' in execution)) return [execution.outcome];
  return [String(execution.problem.status), execution.problem.code];
}

/** Two effects, of which the second is refused; the gateway goes on as it was told. */
function both(...thenWill: readonly ApplyWay[]): Scenario {
  const gateway = freshGateway()
    .will('done', new EffectRefusedError('Busy.'), ...thenWill)
    .otherwise({ inspect: 'not-in-place' });
  return { gateway, run: waitFor(executeBoth) };
}

/** The same, where the undo of the first effect ends after the 504. */
function bothLate(end: (held: HeldCall) => void): Scenario {
  const held = hold();
  const { gateway } = both(held.apply);
  const run: Scenario['run'] = async (stage) => {
    const answer = waitFor(executeBoth)(stage);
    const given = await answer;
    end(held);
    await stage.clock.advance(longEnoughMs);
    return given;
  };
  return { gateway, run };
}

/** Several effects, of which the first is applied after the 504. */
function firstLate(transition: Transition, sessions = 0): Scenario {
  const held = hold();
  const gateway = freshGateway().will(held.apply).otherwise({ inspect: 'not-in-place' });
  return {
    ...(sessions === 0 ? {} : { look: lastOfCrowd }),
    gateway,
    async run(stage) {
      for (let count = 0; count < sessions; count += 1) stage.admin.report(gateway.openSession('Sales'));
      const given = await waitFor(() => executeBoth(stage, transition))(stage);
      held.done();
      await stage.clock.advance(longEnoughMs);
      return given;
    },
  };
}

/** The service fails before the command, or while the gateway carries out the last of several commands. */
function failing(
  targets: readonly string[],
  {
    before = 'works',
    will = [],
  }: { readonly before?: 'works' | 'fails'; readonly will?: readonly ApplyWay[] } = {},
): Scenario {
  const gateway = freshGateway().will(...will);
  return {
    gateway,
    async run(stage) {
      const fail = (): void => {
        stage.admin.report(gateway.failService('Sales'));
      };
      if (before === 'fails') fail();
      else
        gateway.will(...targets.slice(1).map(() => 'done' as const), async (_effect, _context, perform) => {
          // A stop is carried out after the failure, a start before.
          if (targets.length > 1) perform();
          fail();
          if (targets.length === 1) perform();
          return Promise.resolve();
        });
      let answer: readonly string[] = [];
      for (const target of targets) answer = (await waitFor((at) => send(at, target))(stage)) ?? [];
      return answer;
    },
  };
}

/** The report of a failure comes after the stop. */
function reportedLate(): Scenario {
  const gateway = freshGateway();
  return {
    gateway,
    async run(stage) {
      const late = gateway.failService('Sales');
      const answer = await waitFor(send)(stage);
      stage.admin.report(late);
      return answer;
    },
  };
}

const scenarios: Readonly<Record<string, () => Scenario>> = {
  'applies the change: `apply` resolves': () => called(freshGateway()),
  'refuses: `apply` rejects with `EffectRefusedError`': () =>
    called(freshGateway().will(new EffectRefusedError('Busy.'))),
  'fails, and `inspect` answers `in-place`': () =>
    called(freshGateway().will('throwAtOnce').willSee('in-place')),
  'fails, and `inspect` answers `not-in-place`': () =>
    called(freshGateway().will('failBefore').otherwise({ inspect: 'not-in-place' })),
  'fails, and `inspect` fails or answers anything else': () =>
    called(freshGateway().will('failBefore').otherwise({ inspect: blind })),
  'fails, and `inspect` does not answer': () =>
    called(freshGateway().will('failBefore').otherwise({ inspect: 'silent' })),
  'applies the change, and then fails': () => called(freshGateway().will('failAfter')),
  'does not answer before the deadline, and `inspect` answers `in-place`': () => silent(['in-place']),
  'does not answer before the deadline, and `inspect` answers `not-in-place`, or fails': () =>
    silent(['not-in-place', blind]),
  'does not answer before the deadline, and neither does `inspect`': () =>
    called(freshGateway().will('silentBefore').otherwise({ inspect: 'silent' })),
  'answers after the deadline, and `inspect` has answered `in-place`': () => silent(['in-place'], refuseHeld),
  'answers twice': () => called(freshGateway().will(answerTwice)),

  '`apply` resolves late': () => silent(['not-in-place'], (held) => held.done()),
  '`apply` refuses late': () => silent(['not-in-place'], refuseHeld),
  '`apply` fails late, and `inspect` answers `in-place`': () =>
    silent(['not-in-place', 'in-place'], (held) => held.fail(new Error('The wire broke'))),
  '`apply` fails late, and `inspect` answers `not-in-place`': () =>
    silent(['not-in-place'], (held) => held.fail(new Error('The wire broke'))),
  '`inspect` answers `in-place` while `apply` is running': () => silent(['not-in-place', 'in-place']),
  '`apply` never ends, and `inspect` never answers `in-place`': () => silent(['not-in-place']),
  'the interface is closed before the outcome is known': () =>
    silent(['not-in-place'], (_held, { admin }) => void admin.close()),
  'the command is abandoned': () =>
    silent(['not-in-place'], (_held, { admin }) => {
      for (const { id } of admin.commands()) void admin.abandon(id);
    }),

  'fails before the stop': () => failing([stopTarget], { before: 'fails' }),
  'fails while `apply` of the stop is running': () => failing([stopTarget]),
  'fails before the stop, and reports it after the stop': reportedLate,
  'fails after a start, before the start is stored': () => failing([stopTarget, startTarget]),
  'has failed, and is started': () => failing([startTarget], { before: 'fails' }),
  'has failed, and the gateway refuses the start': () =>
    failing([startTarget], { before: 'fails', will: [new EffectRefusedError('Busy.')] }),

  'before the intent is stored': () => deadAt(1, 'lost'),
  'after the intent is stored, and before the settlement is stored': () => deadAt(2, 'lost'),
  'after the settlement is stored': () => deadAt(2, 'kept'),

  'at the intent': () => failsAtOnce(lose, 'long'),
  'at the settlement, for less than `storeDeadlineMs`': () => failsLater((held) => held.done(), 'shortly'),
  'at the settlement, for longer': () => failsLater((held) => held.done(), 'long'),
  'at the settlement of a refused change': () => failsLater(refuseHeld, 'long'),
  'while a user is created, for less than `storeDeadlineMs`': () => failsForUser(lose, 'shortly'),
  'while a user is created, for longer': () => failsForUser(lose, 'long'),

  'at the intent, which is not stored': () => failsAtOnce(lose),
  'at the intent, which is stored': () => failsAtOnce(keepAndFail),
  'at the settlement': () => failsLater((held) => held.done()),
  'at the settlement of a refused change, to the end': () => failsLater(refuseHeld),
  'while a user is created, which is not stored': () => failsForUser(lose),
  'while a user is created, which is stored': () => failsForUser(keepAndFail),
  'at the intent, and is lost': () => failsAtOnce(taken),
  'at the settlement, and is lost': () => failsLater((held) => held.done(), 'for good', taken),
  'while a user is created, and is lost': () => failsForUser(taken),

  'is undone': () => both('done'),
  'is not undone: the gateway refuses the undo': () => both(new EffectRefusedError('Never.')),
  'may be undone: the gateway does not answer': () => both('silentBefore'),
  'is undone, and this is known after the 504': () => bothLate((held) => held.done()),
  'is not undone, and this is known after the 504': () => bothLate(refuseHeld),

  'stops the monitor: the gateway is asked': () => firstLate(stopBoth),
  'flushes the logs: the gateway is not asked, and the first effect is undone': () => firstLate(stopAndFlush),
  'closes the next batch: the gateway is not asked, and the first batch stays closed': () =>
    firstLate(closeAll, teardownBatch + 1),
};

const tables = tablesOf(read('docs/runtime.md')).filter(({ header }) => header.at(-1) === 'After a restart');
const rows = tables.flatMap((table) => table.rows);

function isProblem(code: string): boolean {
  return Object.hasOwn(problemTable, code);
}

describe('the outcome tables of runtime.md', () => {
  it('have exactly the rows that this test runs', () => {
    expect(rows.map(([what]) => what)).toEqual(Object.keys(scenarios));
  });

  // Promise: outcome-table
  it.each(rows)('%s: %s', async (what = '', answer = '', shown = '', told = '', after = '') => {
    const scenario = scenarios[what]?.();
    if (scenario === undefined) throw new Error('Nothing runs this row');
    const outcome = await outcomeOf(scenario);
    const status = /^\d{3}/.exec(answer)?.slice(0, 1) ?? [];
    expect(outcome.answer).toEqual([...status, ...codesOf(answer).filter(isProblem)]);
    expect(outcome.shown === undefined ? [] : [outcome.shown]).toEqual(codesOf(shown));
    expect(outcome.told).toEqual(codesOf(told));
    expect(outcome.after).toEqual(codesOf(after));
  });
});
