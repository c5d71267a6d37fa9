/**
 * The laws of gateway ports: each row of the table is one requirement, for every effect that it covers.
 */
import { systemClock, type Effect, type EffectOf, type GatewayPort, type Update } from '../../index.ts';
import { isDrain, type AuditedEffect, type AuditedEffects } from './audited-effect.ts';
import { BrokenRuleError, restMs } from './audited-gateway.ts';
import { settingOf, textOf, type Calls } from './call.ts';

/** One row of the table of audits. @internal */
export interface Law {
  readonly id: string;
  /** The rest of the sentence that begins with the type of an effect. */
  readonly name: string;
  /** The options and the words of `supports` without which there is nothing to check. */
  readonly needs?: readonly Need[];
  /** Whether the check needs to know which settings the gateway has at the beginning. */
  readonly asksSettings?: true;
  /** What the document must have for the effects of a type. */
  readonly wants?: { readonly type: Effect['type']; readonly what: string };
  /** Whether the audit applies to an effect. */
  readonly covers: (audited: AuditedEffect, all: AuditedEffects) => boolean;
  readonly check: (audited: AuditedEffect, calls: Calls, all: AuditedEffects) => Promise<void>;
}

/** What an audit needs: an option of `gatewayAudits`, or a word of `supports`. @internal */
export type Need = 'connect' | 'obstruct' | 'interrupt' | NonNullable<GatewayPort['supports']>[number];

/** The requirements. @internal */
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
    name: 'is in place after apply, also if inspect is called meanwhile',
    covers: () => true,
    async check({ effect, inverse = effect }, { applyWatched, expect, look }) {
      await applyWatched(effect, async () => {
        const seen = [await look(effect), await look(inverse)];
        if (inverse !== effect && seen.every((each) => each === 'in-place'))
          throw new BrokenRuleError(
            `inspect must not answer "in-place" for ${textOf(effect)}, and then for the undo, while apply is running`,
          );
      });
      await expect(effect, 'in-place', 'after apply');
      if (inverse !== effect) await expect(inverse, 'not-in-place', `after ${effect.type} was applied`);
    },
  },
  {
    id: 'again',
    name: 'is applied a second time without an error, stays in place, and begins no work that ends later',
    covers: () => true,
    async check({ effect, inverse }, { apply, expect }) {
      await apply(effect);
      await apply(effect);
      await expect(effect, 'in-place', 'after apply was called twice');
      if (inverse === undefined) return;
      await apply(inverse);
      await stays(() => expect(inverse, 'in-place', `after ${effect.type} was applied twice, and undone`));
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
    name: 'changes nothing else: no other resource, and no other setting or state of its own',
    asksSettings: true,
    covers: (audited, all) => all().some((other) => isApart(audited, other)),
    async check(audited, { apply, expect }, all) {
      const { effect, settings = [] } = audited;
      const after = `after ${textOf(effect)}`;
      await apply(effect);
      for (const other of all()) {
        if (isApart(audited, other)) await expect(other.first ?? other.effect, 'not-in-place', after);
      }
      if (isMembership(effect)) return;
      for (const each of settings)
        await expect(each, 'in-place', `${after}, which does not change ${settingOf(each)}`);
    },
  },
  {
    id: 'later',
    name: 'stays in place after a later change of other settings of the resource, which changes nothing else',
    asksSettings: true,
    covers: ({ later = [] }) => later.length > 0,
    async check({ effect, later = [], settings = [] }, { apply, applyIfTaken, expect }) {
      await apply(effect);
      let kept = settings;
      for (const each of later) {
        // A gateway need not have the setting.
        if (!(await applyIfTaken(each))) continue;
        await expect(effect, 'in-place', `after a later change of ${settingOf(each)}`);
        await expect(each, 'in-place', `after an earlier change of ${settingOf(effect)}`);
        kept = kept.filter((other) => settingOf(other) !== settingOf(each));
        for (const other of kept)
          await expect(other, 'in-place', `after a change of ${settingOf(each)}, not of ${settingOf(other)}`);
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
      await stays(() => expect(effect, 'not-in-place', 'after inspect had answered so, and apply had ended'));
    },
  },
  {
    id: 'settings',
    name: 'gives the new resource the settings of its definition',
    asksSettings: true,
    covers: ({ effect, settings = [] }) => effect.type.endsWith('.create') && settings.length > 0,
    async check({ effect, settings = [] }, { apply, expect }) {
      await apply(effect);
      for (const each of settings)
        await expect(each, 'in-place', `after ${textOf(effect)}, whose definition has ${settingOf(each)}`);
    },
  },
  {
    id: 'defined',
    name: 'is not in place for another definition of the name',
    covers: ({ redefined }) => redefined !== undefined,
    async check({ effect, redefined = effect }, { apply, expect }) {
      await apply(effect);
      await expect(redefined, 'not-in-place', 'for another definition of the same name');
    },
  },
  {
    id: 'missing',
    name: 'is not in place for what the gateway does not have',
    covers: ({ missing }, all) => missing !== undefined && all(missing.type)[0]?.missing === missing,
    async check({ effect, missing = effect }, { expect }) {
      await expect(missing, 'not-in-place', 'which the gateway does not have');
    },
  },
  {
    id: 'used',
    name: 'is refused, and nothing is done, if clients have come to it since the decision',
    needs: ['connect'],
    covers: ({ used = [] }) => used.length > 0,
    async check({ used = [] }, { apply, expect, expectRefusal, expectSessions }) {
      for (const each of used) {
        const [deletion, ...before] = each.toReversed();
        if (deletion === undefined) continue;
        for (const first of before) await apply(first);
        await expectRefusal(deletion, 'while clients use it');
        await expect(deletion, 'not-in-place', 'after apply refused it, because clients use it');
        await expectSessions(`after ${textOf(deletion)} was refused`);
      }
    },
  },
  {
    id: 'partly',
    name: 'closes what is open if a part of what it names is closed already',
    covers: ({ partlyGone }) => partlyGone !== undefined,
    async check({ effect, partlyGone = effect }, { apply, expect }) {
      await expect(partlyGone, 'not-in-place', 'while a part of what it names is open');
      await apply(partlyGone);
      await expect(effect, 'in-place', 'after an effect that names a closed session too');
    },
  },
  {
    id: 'unsupported',
    name: 'is refused, and nothing is done, if it is also about a setting that the gateway does not have',
    covers: ({ effect }) => 'operations' in effect,
    async check({ effect }, { expectRefusal, expect }) {
      if (!('operations' in effect)) return;
      await expectRefusal(withUnknownSetting(effect), `for the unknown setting "${unknownSetting}"`);
      await expect(effect, 'not-in-place', 'after apply refused it together with an unknown setting');
    },
  },
  {
    id: 'retry',
    name: 'is in place while the gateway goes on trying, and stays out of place otherwise',
    needs: ['obstruct'],
    wants: { type: 'service.start', what: 'stopped service with a listener' },
    covers: ({ effect, listeners = [] }) => effect.type === 'service.start' && listeners.length > 0,
    async check({ effect }, { applyObstructed, obstruct, answerOf, expect, expectFailed, expectRecovered }) {
      if (effect.type !== 'service.start') return;
      const release = await obstruct(effect.service);
      const outcome = await applyObstructed(effect);
      const answer = outcome === 'unclear' ? await answerOf(effect) : expectedAfter[outcome];
      if (answer === 'in-place') await expectFailed(effect.service);
      await release();
      // A gateway that could not tell is asked again, so only an answer counts.
      if (answer !== 'in-place' && answer !== 'not-in-place') return;
      for (let look = 0; look < mostTries; look += 1) {
        await expect(effect, answer, `after the start was obstructed, and apply was ${outcome}`);
        await systemClock.sleep(lookPauseMs);
      }
      if (answer === 'in-place') await expectRecovered(effect.service);
    },
  },
  {
    id: 'whole',
    name: 'leaves no listener open if it is refused, because its last listener cannot open',
    needs: ['connect', 'obstruct'],
    wants: { type: 'service.start', what: 'stopped service with two listeners' },
    covers: ({ effect, listeners = [] }) => effect.type === 'service.start' && listeners.length > 1,
    async check({ effect, listeners = [] }, { applyObstructed, obstruct, expectEntries }) {
      if (effect.type !== 'service.start') return;
      const release = await obstruct(effect.service);
      const outcome = await applyObstructed(effect);
      await release();
      if (outcome === 'refused')
        await expectEntries(effect.service, listeners, 'after the start was refused');
    },
  },
  {
    id: 'clients',
    name: 'disconnects the clients of the sessions that it closes, and no others; the ends are reported',
    needs: ['connect'],
    covers: ({ gone }) => gone !== undefined,
    async check({ effect, ends = [] }, { apply, expectClients, expectEnds }) {
      await apply(effect);
      await expectClients(ends, `after ${textOf(effect)}`);
      await expectEnds(effect);
    },
  },
  {
    id: 'sessions',
    name: 'leaves the open sessions open, also if it is applied again, or undone',
    needs: ['connect'],
    covers: ({ effect }) => /\.(?:start|stop|update|flush)$|^listener\./.test(effect.type),
    async check({ effect, inverse }, { apply, expectSessions }) {
      for (const each of inverse === undefined ? [effect] : [effect, inverse]) {
        await apply(each);
        await apply(each);
        await expectSessions(`after ${textOf(each)}`);
      }
      await systemClock.sleep(restMs);
      await expectSessions(`a little after ${textOf(effect)}`);
    },
  },
  {
    id: 'accepted',
    name: 'is applied only when the sessions of all accepted clients are reported',
    needs: ['connect', 'drain'],
    covers: ({ effect }) => effect.type === 'service.stop',
    async check({ effect }, { applyDuringArrivals }) {
      if (effect.type === 'service.stop') await applyDuringArrivals(effect);
    },
  },
  {
    id: 'drain',
    name: 'that drains the server gives the server no new session, and cuts none',
    needs: ['connect', 'drain'],
    covers: ({ effect }) => effect.type === 'server.update' && isDrain(effect),
    check: expectNoNewSession,
  },
  {
    id: 'deadline',
    name: 'that drains the server until a time cuts no session at that time: the library does that',
    needs: ['connect', 'drain'],
    covers: ({ effect }) => effect.type === 'server.update' && isDrain(effect),
    async check({ effect }, { apply, connections, expectConnections, expectSessions }) {
      const open = connections();
      await apply(withDeadline(effect));
      await systemClock.sleep(1000 * drainSeconds + restMs);
      await expectSessions('at the deadline of a drain');
      expectConnections(open, 'at the deadline of a drain');
    },
  },
  {
    id: 'maintenance',
    name: 'that begins maintenance gives the server no new session, and cuts none',
    needs: ['connect'],
    covers: ({ effect }) => effect.type === 'server.update' && beginsMaintenance(effect),
    check: expectNoNewSession,
  },
  {
    id: 'silent',
    name: 'ends the reports of the monitor',
    needs: ['connect'],
    covers: ({ effect }) => effect.type === 'monitor.stop',
    async check({ effect }, { apply, expectSilence }) {
      await apply(effect);
      if (effect.type === 'monitor.stop') await expectSilence(effect.monitor, `after ${textOf(effect)}`);
    },
  },
  {
    id: 'probes',
    name: 'begins the reports of the monitor',
    needs: ['connect'],
    wants: { type: 'monitor.start', what: 'stopped monitor with a server' },
    covers: ({ effect, probed = [] }) => effect.type === 'monitor.start' && probed.length > 0,
    async check({ effect, probed = [] }, { applyAndHear }) {
      await applyAndHear(effect, probed);
    },
  },
  {
    id: 'limit',
    name: 'limits the sessions of that service alone, if the gateway has max_connection',
    needs: ['connect'],
    covers: ({ effect }) => effect.type === 'service.update' && effect.to.max_connection !== undefined,
    async check({ effect }, { applyIfTaken, expectLimit }) {
      if (effect.type !== 'service.update' || !(await applyIfTaken(effect))) return;
      await expectLimit(effect.service, effect.to.max_connection ?? 0, `after ${textOf(effect)}`);
    },
  },
  {
    id: 'entry',
    name: 'lets each listener take clients exactly while the listener is there and its service is started',
    needs: ['connect'],
    covers: ({ listeners = [] }) => listeners.length > 0,
    async check({ effect, listeners = [] }, { apply, expectEntries }) {
      await apply(effect);
      if ('service' in effect) await expectEntries(effect.service, listeners, `after ${textOf(effect)}`);
    },
  },
  {
    id: 'start',
    name: 'opens nothing before the start of the new service',
    needs: ['connect'],
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

const expectedAfter = { done: 'in-place', refused: 'not-in-place' } as const;

/** The number of looks after an obstacle is removed. They take a second. */
const mostTries = 100;

/** Expects that a server gets no new session after an update, and that no session was cut. */
async function expectNoNewSession(
  { effect }: AuditedEffect,
  { apply, connections, expectAvoided, expectConnections, expectSessions }: Calls,
): Promise<void> {
  const [open, after] = [connections(), `after ${textOf(effect)}`];
  await apply(effect);
  if (effect.type !== 'server.update') return;
  await expectAvoided(effect.server, after);
  await expectSessions(after);
  expectConnections(open, after);
}

function beginsMaintenance({ from, to }: EffectOf<'server.update'>): boolean {
  const [before = [], after = []] = [from.status, to.status];
  return !before.includes('maintenance') && after.includes('maintenance');
}

const drainSeconds = 1;

/** A drain that ends soon. The interface of the audit does not know it, and does nothing at its end. */
function withDeadline(effect: Effect): Effect {
  if (effect.type !== 'server.update' || effect.to.drain === undefined) return effect;
  const since = systemClock.now();
  const [from, until] = [since, since + 1000 * drainSeconds].map((time) => new Date(time).toISOString());
  const drain = { ...effect.to.drain, since: from, timeout: drainSeconds, until, then: 'close' };
  return { ...effect, to: { ...effect.to, drain } } as Effect;
}

/** A setting that no gateway has. */
const unknownSetting = 'no_such_setting';

/** The update, and an unknown setting. */
function withUnknownSetting<E extends Extract<Effect, Update<object>>>(effect: E): E {
  const { to, operations } = effect;
  const added = { op: 'add', path: `/${unknownSetting}`, value: 1 } as const;
  return { ...effect, to: { ...to, [unknownSetting]: 1 }, operations: [...operations, added] };
}

const laterLooks = 5;
const lookPauseMs = 10;

/** Looks a few times whether something stays as it is. */
async function stays(look: () => Promise<void>): Promise<void> {
  for (let looks = 0; looks < laterLooks; looks += 1) {
    await systemClock.sleep(lookPauseMs);
    await look();
  }
}

function isMembership({ type }: Effect): boolean {
  return type.endsWith('.create') || type.endsWith('.delete');
}

/**
 * Whether another effect is on another resource, or on another aspect of the same one. Closing effects do not count:
 * both may close the same session.
 */
function isApart({ effect }: AuditedEffect, { effect: other, inverse }: AuditedEffect): boolean {
  if (inverse === undefined) return false;
  if (effect.resource === other.resource) return isOtherAspect(effect, other);
  // A listener is a part of its service.
  const [one, another] = [`${effect.resource}/`, `${other.resource}/`];
  return !one.startsWith(another) && !another.startsWith(one);
}

function isOtherAspect(effect: Effect, other: Effect): boolean {
  const [verb, otherVerb] = [effect, other].map(({ type }) => type.split('.')[1] ?? '');
  if (otherVerb === 'create' || otherVerb === 'delete') return false;
  if ('operations' in effect && 'operations' in other) {
    const names = Object.keys({ ...effect.from, ...effect.to });
    return !Object.keys({ ...other.from, ...other.to }).some((name) => names.includes(name));
  }
  return 'operations' in effect || 'operations' in other || verb === 'create' || verb === 'delete';
}
