/**
 * Clients that drain services and servers, with a deadline or without, and end drains; and the laws of drains.
 */
import {
  drain,
  linkTo,
  resume,
  type Admin,
  type AdminRequest,
  type Drain,
  type Effect,
  type Snapshot,
} from 'gateway-admin-core';
import type { Random, ScriptedGateway } from 'gateway-admin-core/testing';

import { drainsOf, type DrainingResource } from '../support/session-count.ts';
import type { Asked } from './answer.ts';

const places = [
  ['services', 'Sales'],
  ['services', 'Reports'],
  ['servers', 'db-1'],
  ['servers', 'db-2'],
] as const;

/** What no client knows where drains end by themselves. */
export const unknowable = /^(?:sales|reports) state is /;

/** How long after its deadline a drain may still have something to do, in milliseconds, if nothing fails. */
const graceMs = 60_000;

export class Drainer {
  readonly faults: string[] = [];
  readonly #random: Random;
  /** When what was asked for with a reason may act, by the reason: no command of a deadline comes earlier. */
  readonly #earliest = new Map<string, number>();
  /** The clients that have drained something. */
  readonly #actors = new Set<string>();

  constructor(random: Random) {
    this.#random = random;
  }

  /**
   * A client drains something, or ends a drain.
   *
   * @param number - differs from command to command
   */
  next(number: number, now: number): Asked | undefined {
    const random = this.#random;
    if (random.chance(0.5)) return undefined;
    const [collection, name] = random.pick(places);
    const isRequest = random.chance(0.5);
    const target = linkTo(collection, name);
    if (random.chance(0.3)) {
      return {
        kind: `resume ${name}`,
        step: (snapshot, context) => resume(snapshot, collection, name, context),
        changes: [{}],
        ...(isRequest ? { request: { method: 'PUT', target: `${target}/resume`, headers: {} } } : {}),
      };
    }
    const reason = `drain ${String(number)}`;
    const timeout = random.chance(0.6) ? 1 + random.below(5) : undefined;
    const options: Pick<Drain, 'timeout' | 'then' | 'reason'> = {
      reason,
      ...(timeout === undefined ? {} : { timeout, then: random.pick(['close', 'resume']) }),
    };
    if (timeout !== undefined) this.#earliest.set(reason, now + timeout * 1000);
    return {
      kind: `drain ${name}`,
      step: (snapshot, context) => drain(snapshot, collection, name, options, context),
      // A deadline changes the state at any time, so no client knows what the state is.
      changes: [{}],
      ...(isRequest ? { request: requestOf(`${target}/drain`, options) } : {}),
    };
  }

  /** A client has sent something. */
  sent({ kind }: Asked, actor: string): void {
    if (kind.startsWith('drain ')) this.#actors.add(actor);
  }

  /** The gateway is asked for an effect. What closes for a client that only drains, closes at a deadline. */
  note(effect: Effect, commandId: string, admin: Admin, now: number): void {
    if (effect.type !== 'sessions.close' && effect.type !== 'connections.close') return;
    const holder = admin.commands().find(({ id }) => id === commandId);
    if (holder === undefined) return;
    // Every client has a name, and a deadline acts as the one who began the drain.
    if (holder.actor === undefined) this.faults.push(`${effect.type} at ${effect.resource} for nobody`);
    if (!this.#actors.has(holder.actor ?? '')) return;
    for (const place of places) {
      if (linkTo(place[0], place[1]) !== effect.resource) continue;
      const { reason, then } = drainAt(admin, place) ?? {};
      const earliest = this.#earliest.get(reason ?? '');
      if (then === 'close' && (earliest ?? 0) <= now) continue;
      this.faults.push(`${effect.type} at ${effect.resource} before the deadline of ${String(reason)}`);
    }
  }

  /** Nothing is shown as drained of which the gateway has something open. */
  early({ snapshot }: Admin, gateway: ScriptedGateway): readonly string[] {
    if (snapshot.sessionsIncomplete === true) return [];
    return drainsOf(snapshot).flatMap((place) => {
      if (leftOn(snapshot, place) > 0) return [];
      const { collection, key } = place;
      const open = Object.values(gateway.state.sessions).filter((session) =>
        collection === 'services'
          ? session.service === key
          : Object.values(session.connections).some(({ server }) => server === key),
      );
      return open.length === 0 ? [] : [`${collection}/${key} is shown as drained, and something is open`];
    });
  }

  /** A minute after a deadline, nothing is left to do. */
  overdue({ snapshot }: Admin, now: number): readonly string[] {
    return drainsOf(snapshot).flatMap((place) => {
      const { collection, key } = place;
      const { until, then } = snapshot[collection].find(key)?.settings.drain ?? {};
      if (until === undefined || Date.parse(until) + graceMs > now) return [];
      return then === 'resume' || leftOn(snapshot, place) > 0
        ? [`${collection}/${key} was to ${String(then)} at ${until}`]
        : [];
    });
  }
}

/** How much is left: the sessions of a service, or the connections to a server. */
function leftOn({ sessions }: Snapshot, { collection, key }: DrainingResource): number {
  return collection === 'services' ? sessions.countOfService(key) : sessions.countOfServer(key);
}

function drainAt({ snapshot }: Admin, [collection, name]: (typeof places)[number]) {
  return snapshot[collection].find(name.toLowerCase())?.settings.drain;
}

function requestOf(target: string, body: object): AdminRequest {
  return {
    method: 'PUT',
    target,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  };
}
