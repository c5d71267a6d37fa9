/**
 * The laws of gateway ports: each row of the table is one requirement, for every effect that it covers.
 */
import { systemClock, type Effect, type EffectOf, type Update } from '../../index.ts';
import { isDrain, type AuditedEffect, type AuditedEffects } from './audited-effect.ts';
import { textOf, type Calls } from './call.ts';

/** One row of the table of audits. @internal */
export interface Law {
  readonly id: string;
  /** The rest of the sentence that begins with the type of an effect. */
  readonly name: string;
  /** The law is about gateways alone that list this in `supports`. */
  readonly needs?: 'drain';
  /** Whether the audit applies to an effect. */
  readonly covers: (audited: AuditedEffect, all: AuditedEffects) => boolean;
  readonly check: (audited: AuditedEffect, calls: Calls, all: AuditedEffects) => Promise<void>;
}

/** The requirements, for gateways with and without clients. @internal */
export const laws: readonly Law[] = [
  {
    id: 'before',
    name: 'is not in place before apply, however often inspect is called',
    // If no log entry is pending, the logs are already flushed.
    covers: ({ effect }) => effect.type !== 'logs.flush',
    async check({ effect }, { expect }) {
      await expect(effect, 'not-in-place', 'before any effect was applied');
      await expect(effect, 'not-in-place', 'after a call of inspect alone');
    },
  },
  {
    id: 'after',
    name: 'is in place after apply',
    covers: () => true,
    async check({ effect, inverse }, { apply, expect }) {
      await apply(effect);
      await expect(effect, 'in-place', 'after apply');
      if (inverse !== undefined) await expect(inverse, 'not-in-place', `after ${effect.type} was applied`);
    },
  },
  {
    id: 'again',
    name: 'is applied a second time without an error, and stays in place',
    covers: () => true,
    async check({ effect }, { apply, expect }) {
      await apply(effect);
      await apply(effect);
      await expect(effect, 'in-place', 'after apply was called twice');
    },
  },
  {
    id: 'undo',
    name: 'is no longer in place after the inverse effect was applied',
    covers: ({ inverse }) => inverse !== undefined,
    async check({ effect, inverse = effect }, { apply, expect }) {
      await apply(effect);
      await apply(inverse);
      await expect(inverse, 'in-place', 'after this undo was applied');
      await expect(effect, 'not-in-place', 'after the effect was undone');
    },
  },
  {
    id: 'others',
    name: 'does not change other resources',
    covers: (audited, all) => all().some((other) => isApart(audited, other)),
    async check(audited, { apply, expect }, all) {
      await apply(audited.effect);
      for (const other of all()) {
        if (isApart(audited, other))
          await expect(other.first ?? other.effect, 'not-in-place', `after ${textOf(audited.effect)}`);
      }
    },
  },
  {
    id: 'later',
    name: 'stays in place after a later change of other settings of the resource',
    covers: ({ later = [] }) => later.length > 0,
    async check({ effect, later = [] }, { apply, applyIfTaken, expect }) {
      await apply(effect);
      for (const each of later) {
        // A gateway need not have the setting.
        if (!(await applyIfTaken(each))) continue;
        await expect(effect, 'in-place', 'after a later change of other settings');
        await expect(each, 'in-place', 'after an earlier change of other settings');
      }
    },
  },
  {
    id: 'gone',
    name: 'is in place for a closed session, and does not close a later session with the same id',
    covers: ({ gone }) => gone !== undefined,
    async check({ effect, gone = effect }, { apply, expect, expectClients }) {
      await expect(gone, 'in-place', 'of a session with another connect time');
      await apply(gone);
      await expect(effect, 'not-in-place', 'after an effect on a session with another connect time');
      await expectClients([], 'after an effect on a session with another connect time');
    },
  },
  {
    id: 'moved',
    name: 'is in place for connections that are on another server by now, and does not close them',
    covers: ({ elsewhere }) => elsewhere !== undefined,
    async check({ effect, elsewhere = effect }, { apply, expect, expectClients }) {
      await expect(elsewhere, 'in-place', 'of connections that are on another server');
      await apply(elsewhere);
      await expect(effect, 'not-in-place', 'after an effect on the connections to another server');
      await expectClients([], 'after an effect on the connections to another server');
    },
  },
  {
    id: 'only',
    name: 'closes nothing else',
    covers: ({ kept = [] }) => kept.length > 0,
    async check({ effect, kept = [] }, { apply, expect }) {
      await apply(effect);
      for (const other of kept) await expect(other, 'not-in-place', `after ${textOf(effect)}`);
    },
  },
  {
    id: 'abort',
    name: 'gets a true answer if its signal aborts during apply',
    covers: () => true,
    async check({ effect }, { applyAborted, expect }) {
      const outcome = await applyAborted(effect);
      if (outcome === 'done') await expect(effect, 'in-place', 'after apply resolved in spite of the abort');
      if (outcome === 'refused')
        await expect(effect, 'not-in-place', 'after apply refused because of the abort');
    },
  },
  {
    id: 'final',
    name: 'stays out of place once inspect has answered not-in-place after an aborted apply',
    // The looks take time, so one effect of each type has to do.
    covers: ({ effect }, all) => all(effect.type)[0]?.effect === effect,
    async check({ effect }, { applyAborted, answerOf, expect }) {
      await applyAborted(effect);
      if ((await answerOf(effect)) !== 'not-in-place') return;
      // The request of the aborted call must not arrive any more: the client was told that nothing has changed.
      for (let look = 0; look < laterLooks; look += 1) {
        await systemClock.sleep(lookPauseMs);
        await expect(effect, 'not-in-place', 'after inspect had answered so, and apply had ended');
      }
    },
  },
  {
    id: 'settings',
    name: 'gives the new resource the settings of its definition',
    covers: ({ defined = [] }) => defined.length > 0,
    async check({ effect, defined = [] }, { apply, expect }) {
      await apply(effect);
      for (const each of defined) await expect(each, 'in-place', `after ${textOf(effect)} with this setting`);
    },
  },
  {
    id: 'defined',
    name: 'is not in place for another listener of the name',
    covers: ({ effect }) => effect.type === 'listener.create',
    async check({ effect }, { apply, expect }) {
      await apply(effect);
      await expect(atAnotherPort(effect), 'not-in-place', 'for the same name at another port');
    },
  },
  {
    id: 'unsupported',
    name: 'is refused, and nothing is done, if it is also about a setting that the gateway does not have',
    covers: ({ effect }) => 'operations' in effect,
    async check({ effect }, { expectRefusal, expect }) {
      if (!('operations' in effect)) return;
      await expectRefusal(withUnknownSetting(effect), unknownSetting);
      await expect(effect, 'not-in-place', 'after apply refused it together with an unknown setting');
    },
  },
];

/** Expects that a server gets no new session after an update, and that no session was cut. */
async function expectNoNewSession(
  { effect }: AuditedEffect,
  { apply, expectAvoided, expectSessions }: Calls,
): Promise<void> {
  await apply(effect);
  if (effect.type !== 'server.update') return;
  await expectAvoided(effect.server, `after ${textOf(effect)}`);
  await expectSessions(`after ${textOf(effect)}`);
}

function beginsMaintenance({ from, to }: EffectOf<'server.update'>): boolean {
  const [before = [], after = []] = [from.status, to.status];
  return !before.includes('maintenance') && after.includes('maintenance');
}

/** A setting that no gateway has. */
const unknownSetting = 'no_such_setting';

/** The update, and an unknown setting. */
function withUnknownSetting<E extends Extract<Effect, Update<object>>>(effect: E): E {
  const { to, operations } = effect;
  const added = { op: 'add', path: `/${unknownSetting}`, value: 1 } as const;
  return { ...effect, to: { ...to, [unknownSetting]: 1 }, operations: [...operations, added] };
}

function atAnotherPort(effect: Effect): Effect {
  if (effect.type !== 'listener.create') return effect;
  const { to } = effect;
  return { ...effect, to: { ...to, port: ((to.port ?? 0) % 65_535) + 1 } };
}

const laterLooks = 5;
const lookPauseMs = 10;

/** Whether another effect is on another resource. Closing effects do not count: both may close the same session. */
function isApart({ effect }: AuditedEffect, other: AuditedEffect): boolean {
  // A listener is a part of its service.
  const [one, another] = [`${effect.resource}/`, `${other.effect.resource}/`];
  return other.inverse !== undefined && !one.startsWith(another) && !another.startsWith(one);
}

/** The requirements for gateways whose starts can be obstructed. @internal */
export const startLaws: readonly Law[] = [
  {
    id: 'retry',
    name: 'is in place while the gateway goes on trying, and stays out of place otherwise',
    covers: ({ effect }) => effect.type === 'service.start',
    async check({ effect }, { applyObstructed, obstruct, answerOf, expect }) {
      const release = await obstruct('service' in effect ? effect.service : '');
      const outcome = await applyObstructed(effect);
      const answer = outcome === 'unclear' ? await answerOf(effect) : expectedAfter[outcome];
      await release();
      // A gateway that could not tell is asked again, so only an answer counts.
      if (answer !== 'in-place' && answer !== 'not-in-place') return;
      for (let look = 0; look < mostTries; look += 1) {
        await expect(effect, answer, `after the start was obstructed, and apply was ${outcome}`);
        await systemClock.sleep(lookPauseMs);
      }
    },
  },
  {
    id: 'whole',
    name: 'leaves no listener open if it is refused',
    covers: ({ effect }) => effect.type === 'service.start',
    async check({ effect }, { applyObstructed, obstruct, expectEntries, listenersOf }) {
      if (effect.type !== 'service.start') return;
      const release = await obstruct(effect.service);
      const outcome = await applyObstructed(effect);
      await release();
      if (outcome !== 'refused') return;
      await expectEntries(effect.service, listenersOf(effect.service), 'after the start was refused');
    },
  },
];

const expectedAfter = { done: 'in-place', refused: 'not-in-place' } as const;

/** The number of looks after an obstacle is removed. They take a second. */
const mostTries = 100;

/** The requirements for gateways with clients. @internal */
export const clientLaws: readonly Law[] = [
  {
    id: 'clients',
    name: 'disconnects the clients of the sessions that it closes, and no others',
    covers: ({ gone }) => gone !== undefined,
    async check({ effect, ends = [] }, { apply, expectClients }) {
      await apply(effect);
      await expectClients(ends, `after ${textOf(effect)}`);
    },
  },
  {
    id: 'sessions',
    name: 'leaves the open sessions open',
    covers: ({ effect }) => effect.type === 'service.stop' || effect.type === 'listener.delete',
    async check({ effect }, { apply, expectSessions }) {
      await apply(effect);
      await expectSessions(`after ${textOf(effect)}`);
    },
  },
  {
    id: 'accepted',
    name: 'is applied only when the sessions of all accepted clients are reported',
    needs: 'drain',
    covers: ({ effect }) => effect.type === 'service.stop',
    async check({ effect }, { applyDuringArrivals }) {
      if (effect.type === 'service.stop') await applyDuringArrivals(effect);
    },
  },
  {
    id: 'drain',
    name: 'that drains the server gives the server no new session, and cuts none',
    covers: ({ effect }) => effect.type === 'server.update' && isDrain(effect),
    check: expectNoNewSession,
  },
  {
    id: 'maintenance',
    name: 'that begins maintenance gives the server no new session, and cuts none',
    covers: ({ effect }) => effect.type === 'server.update' && beginsMaintenance(effect),
    check: expectNoNewSession,
  },
  {
    id: 'silent',
    name: 'ends the reports of the monitor',
    covers: ({ effect }) => effect.type === 'monitor.stop',
    async check({ effect }, { apply, expectSilence }) {
      await apply(effect);
      if (effect.type === 'monitor.stop') await expectSilence(effect.monitor, `after ${textOf(effect)}`);
    },
  },
  {
    id: 'entry',
    name: 'lets the listener take clients exactly while the listener is there and its service is started',
    covers: ({ effect }) => effect.type === 'listener.create' || effect.type === 'listener.delete',
    async check({ effect }, { apply, expectEntries }) {
      await apply(effect);
      if (effect.type !== 'listener.create' && effect.type !== 'listener.delete') return;
      const listener = effect.type === 'listener.create' ? effect.to : effect.from;
      await expectEntries(effect.service, [listener], `after ${textOf(effect)}`);
    },
  },
  {
    id: 'start',
    name: 'opens nothing before the start of the new service',
    covers: ({ effect, start }) =>
      effect.type === 'service.create' && start !== undefined && (effect.to.listeners ?? []).length > 0,
    async check({ effect, start = effect }, { apply, expectEntries }) {
      if (effect.type !== 'service.create') return;
      for (const each of [effect, start]) {
        await apply(each);
        await expectEntries(effect.service, effect.to.listeners ?? [], `after ${textOf(each)}`);
      }
    },
  },
];
