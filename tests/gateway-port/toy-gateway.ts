/**
 * A gateway that exists in memory and does everything in steps. Each step can fail, hang, or do nothing and say so not.
 */
import { EffectRefusedError } from 'gateway-admin-core';
import {
  createGatewayPort,
  type Kind,
  type OpenedGatewayPort,
  type WantedChange,
} from 'gateway-admin-core/gateway-port';
import type { Random, VirtualClock } from 'gateway-admin-core/testing';

const fields = {
  service: ['servers', 'filters', 'max_connection', 'router_options', 'drain'],
  server: ['address', 'port', 'parameters', 'maintenance', 'drain'],
  monitor: ['servers', 'monitor_interval'],
  filter: ['parameters'],
} as const;

/** What goes wrong with a step. */
export type Fault = 'throws' | 'refuses' | 'hangs' | 'ignores the signal' | 'lies';

/** What comes with a wanted resource of any kind. */
type Change = Pick<WantedChange<'service', never>, 'key' | 'signal'> & { readonly before: unknown };

/** The members that `read` shows. A lie about another one is found out by nobody. */
const readable = new Set<string>(
  ['state', ...Object.values(fields).flat()].filter((name) => name !== 'drain'),
);

type Member = Readonly<Record<string, unknown>>;

export class ToyGateway {
  readonly port: OpenedGatewayPort;
  /** What the gateway has, by kind and key. */
  readonly things = new Map<string, Member>();
  readonly errors: unknown[] = [];
  /** What must never be. */
  readonly faults: string[] = [];
  /** Chooses what goes wrong with a step. */
  goesWrong: () => Fault | undefined = () => undefined;
  readonly #clock: VirtualClock;
  readonly #random: Random;
  readonly #busy = new Set<string>();
  readonly #resolved = new Map<string, unknown>();

  constructor(clock: VirtualClock, random: Random) {
    this.#clock = clock;
    this.#random = random;
    this.port = createGatewayPort({
      services: { fields: fields.service, ...this.#kind('service') },
      servers: { fields: fields.server, ...this.#kind('server') },
      monitors: { fields: fields.monitor, ...this.#kind('monitor') },
      filters: { fields: fields.filter, ...this.#kind('filter') },
      closeSessions: (sessions) => {
        for (const { id, connected } of sessions) this.port.report({ type: 'session.closed', id, connected });
      },
      sessionsEnd: true,
      clock,
      onError: (error) => void this.errors.push(error),
    });
  }

  /** The functions of a kind. They are the same for each. */
  #kind(kind: Kind) {
    return {
      apply: async (wanted: object | undefined, change: Change): Promise<void> => {
        const place = `${kind} ${change.key}`;
        if (this.#busy.has(place)) this.faults.push(`two calls at a time for ${place}`);
        if (change.before !== undefined && change.before !== this.#resolved.get(place))
          this.faults.push(`before of ${place} is not what apply has last resolved for`);
        this.#busy.add(place);
        this.#resolved.delete(place);
        try {
          await this.#bring(place, wanted as Member | undefined, change.signal);
          this.#resolved.set(place, wanted);
        } finally {
          this.#busy.delete(place);
        }
      },
      read: (key: string) => {
        const thing = this.things.get(`${kind} ${key}`);
        return thing && (seenOf(kind, thing) as never);
      },
    };
  }

  async #bring(place: string, wanted: Member | undefined, signal: AbortSignal): Promise<void> {
    if (wanted === undefined) {
      if (await this.#step('state', signal)) this.things.delete(place);
      return;
    }
    for (const [name, value] of Object.entries({ ...this.things.get(place), ...wanted })) {
      if (!(await this.#step(name, signal))) continue;
      const others = Object.entries({ ...this.things.get(place) }).filter(([other]) => other !== name);
      const own = Object.hasOwn(wanted, name) ? [[name, value] as const] : [];
      this.things.set(place, Object.fromEntries([...others, ...own]));
    }
  }

  /** Whether a step is done. */
  async #step(name: string, signal: AbortSignal): Promise<boolean> {
    if (this.#random.chance(0.2)) await this.#clock.sleep(1 + this.#random.below(50), signal);
    switch (this.goesWrong()) {
      case 'throws':
        throw new Error('The gateway has failed');
      case 'refuses':
        throw new EffectRefusedError('The gateway refuses.');
      case 'hangs':
        await this.#clock.sleep(1e9, signal);
        signal.throwIfAborted();
        return true;
      case 'ignores the signal':
        await this.#clock.sleep(this.#random.below(120_000));
        return true;
      case 'lies':
        return !readable.has(name);
      case undefined:
        return true;
    }
  }
}

/** What a gateway says of a thing. */
function seenOf(kind: Kind, thing: Member): Member {
  const { state, listeners = [] } = thing;
  const own = fields[kind].filter((name) => name !== 'drain').map((name) => [name, thing[name]]);
  const keys = (listeners as readonly { readonly key: string }[]).map(({ key }) => key);
  return {
    ...Object.fromEntries(own),
    ...(kind === 'service' && { listening: state === 'started' ? keys : [] }),
    ...((kind === 'service' || kind === 'monitor') && { state }),
  };
}
