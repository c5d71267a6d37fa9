/**
 * Clients that create and delete resources, and list them elsewhere; and the work of the gateway with what they have
 * created.
 */
import {
  createResource,
  deleteResource,
  linkTo,
  nameKey,
  patchMonitor,
  patchServer,
  patchService,
  startMonitor,
  startService,
  stopMonitor,
  stopService,
  type AdminRequest,
  type Execution,
  type HostReport,
  type Snapshot,
  type Transition,
} from 'gateway-admin-core';
import type { Random, ScriptedGateway } from 'gateway-admin-core/testing';

import type { Asked } from './answer.ts';
import { inSequence, type ClientCommand } from './command.ts';
import type { Change } from './model.ts';
import { statuses } from './simulation.ts';

type Founded = 'servers' | 'services' | 'monitors' | 'filters';

/** What comes and goes. */
const names = {
  servers: ['db-3', 'db-4'],
  services: ['New', 'Other'],
  monitors: ['Third'],
  filters: ['Extra'],
} as const;
const turns = {
  services: { start: startService, stop: stopService },
  monitors: { start: startMonitor, stop: stopMonitor },
};
/** What can list a server. */
const holders = {
  services: ['Sales', 'Reports', ...names.services],
  monitors: ['Watch', ...names.monitors],
} as const;

/** What services have by clients that let it come and go: filters in their lists, and listeners. */
const attached = ['filters extra', 'filters mask', 'listens in', 'listens out'] as const;

/** What a client asks for, with its request. */
export interface Founding extends ClientCommand {
  readonly request: AdminRequest;
}

/** What was deleted a moment ago. */
export interface Gone {
  readonly collection: 'servers' | 'services';
  readonly name: string;
}

/** What a creation must have. */
interface Wanted {
  readonly name?: string;
  readonly listed?: string;
}

export class Founder {
  readonly faults: string[] = [];
  /** How often each answer was given. */
  readonly seen: Record<string, number> = {};
  readonly #random: Random;
  readonly #fails: boolean;

  /** @param fails - whether services fail and recover */
  constructor(random: Random, fails = true) {
    this.#random = random;
    this.#fails = fails;
  }

  /**
   * What is asked at once: one command, or two that meet.
   *
   * @param number - differs from command to command, by at least two
   */
  next(number: number): readonly Asked[] {
    const random = this.#random;
    if (random.chance(0.7)) return [this.#one(number)];
    const server = random.pick(names.servers);
    const service = random.pick(names.services);
    const rivals = [
      () => [this.#listing(server, true), this.#deletion('servers', server)],
      () => [
        this.#creation(number, 'servers', { name: server }),
        this.#creation(number + 1, 'servers', { name: server.toUpperCase() }),
      ],
      () => [this.#creation(number, 'services', { listed: server }), this.#deletion('servers', server)],
      () => [this.#turn(service), this.#deletion('services', service)],
    ];
    const pair = random
      .pick(rivals)()
      .map((each) => this.#asked(each));
    return random.chance(0.5) ? pair : pair.toReversed();
  }

  /** Uses the name of a server again, in one command: who reads on later sees another server in the lists. */
  again(number: number): Asked {
    const server = this.#random.pick(names.servers);
    return this.#asked(
      inSequence([
        this.#deletion('servers', server),
        this.#creation(number, 'servers', { name: server }),
        this.#listing(server, true),
      ]),
    );
  }

  #one(number: number): Asked {
    const random = this.#random;
    const makers = [
      () => this.#creation(number),
      () => this.#creation(number),
      () => this.#deletion(),
      () => this.#listing(),
      () => this.#listing(),
      () => this.#change(number),
      () => this.#turn(),
    ];
    const collection = random.pick(['services', 'monitors'] as const);
    const name = random.pick(names[collection]);
    const whole = [
      () => [this.#creation(number, 'servers'), this.#listing()],
      () => [this.#creation(number, 'servers'), this.#creation(number + 1, 'services')],
      () => [this.#listing(), this.#listing(), this.#deletion()],
      () => [this.#turn(name, 'stop'), this.#deletion(collection, name)],
      () => [
        this.#turn(name, 'stop'),
        this.#deletion(collection, name),
        this.#creation(number, collection, { name }),
      ],
    ];
    return this.#asked(random.chance(0.3) ? inSequence(random.pick(whole)()) : random.pick(makers)());
  }

  /** A command in the process, or a request. */
  #asked(command: ClientCommand): Asked {
    if ('request' in command && this.#random.chance(0.5)) return command as Asked;
    const { kind, step, changes } = command;
    return { kind, step, changes, judge: (execution) => this.#judge(kind, execution) };
  }

  /** Something happens to what clients have created. */
  happenings(gateway: ScriptedGateway): readonly HostReport[] {
    const random = this.#random;
    const { services, servers } = gateway.state;
    const [service, server] = [nameKey(random.pick(names.services)), random.pick(names.servers)];
    const happenings = [
      ...(service in services
        ? [
            () => gateway.openSession(service),
            ...(this.#fails
              ? [() => gateway.failService(service), () => gateway.recoverService(service)]
              : []),
          ]
        : []),
      ...(server in servers ? [() => gateway.findStatus(server, random.pick(statuses))] : []),
      // A session connects to what a service lists, unless that was deleted unseen.
      ...(server in servers && JSON.stringify(services).includes(`"${linkTo('servers', server)}"`)
        ? [() => gateway.openConnection(random.below(10), server)]
        : []),
      () => gateway.closeSession(random.below(10)),
    ];
    return random.pick(happenings)();
  }

  /** A report about something that is gone, which was on its way. */
  late(gone: readonly Gone[]): readonly HostReport[] {
    if (gone.length === 0) return [];
    const { collection, name } = this.#random.pick(gone);
    return collection === 'servers'
      ? [{ type: 'server.reported', server: name, status: ['running'] }]
      : [{ type: 'service.reported', service: name, state: 'failed' }];
  }

  /** What a refused command has made is gone again if the client is told that nothing was changed. */
  #judge(kind: string, execution: Execution): void {
    const answer = 'problem' in execution ? execution.problem.code : execution.outcome;
    this.seen[`${kind} ${answer}`] = (this.seen[`${kind} ${answer}`] ?? 0) + 1;
    if (execution.outcome !== 'refused' || !execution.problem.detail.includes('Nothing was changed')) return;
    const balance = new Map<string, number>();
    for (const { type, resource } of execution.events) {
      const by = type.endsWith('.created') ? 1 : type.endsWith('.deleted') ? -1 : 0;
      balance.set(resource, (balance.get(resource) ?? 0) + by);
    }
    for (const [resource, left] of balance)
      if (left !== 0) this.faults.push(`${kind} has changed nothing, and ${resource} has come or gone`);
  }

  /** @param listed - a server that a service or monitor lists */
  #creation(
    number: number,
    collection: Founded = this.#random.pick(everyCollection),
    { name = this.#spelt(this.#random.pick(names[collection])), listed }: Wanted = {},
  ): Founding {
    const random = this.#random;
    const key = nameKey(name);
    const servers = ['db-1', ...names.servers].filter((each) => each === listed || random.chance(0.4));
    const state = random.pick(['started', 'stopped'] as const);
    const links = servers.map((server) => linkTo('servers', server));
    const lists = Object.fromEntries(
      ['db-1', 'db-2', ...names.servers].map((server) => [
        `${key} lists ${server}`,
        servers.includes(server) || undefined,
      ]),
    );
    // What no running gateway changes differs too.
    const kind = number % 3 === 0 ? 'a' : 'b';
    const listeners = [{ name: 'In', protocol: kind, address: '10.0.0.9', port: 5000 + (number % 3) }];
    const [definition, change] = {
      servers: [
        { name, address: '10.0.0.3', port: 1 + (number % 65_535), protocol: kind },
        { [`${key} port`]: 1 + (number % 65_535), [`${key} maintenance`]: false },
      ],
      services: [
        { name, router: kind, servers: links, max_connection: number, state, listeners },
        {
          ...lists,
          [`${key} max_connection`]: number,
          [`${key} state`]: state,
          ...Object.fromEntries(attached.map((each) => [`${key} ${each}`, undefined])),
          [`${key} listens in`]: 5000 + (number % 3),
        },
      ],
      monitors: [
        { name, module: kind, servers: links, monitor_interval: number, state },
        { ...lists, [`${key} monitor_interval`]: number, [`${key} state`]: state },
      ],
      filters: [
        { name, module: 'tee', parameters: { match: { value: String(number), configurable: true } } },
        { [`${key} match`]: String(number) },
      ],
    }[collection] as unknown as [{ name: string }, Change];
    return {
      kind: `create ${collection}`,
      step: (snapshot, context) => createResource(snapshot, collection, definition as never, context),
      changes: inSteps(change),
      request: requestOf('POST', `/${collection}`, definition),
    };
  }

  #deletion(
    collection: Founded = this.#random.pick(everyCollection),
    name: string = this.#random.pick(names[collection]),
  ): Founding {
    return deletionOf(collection, name, this.#random.chance(0.5));
  }

  /** A service or monitor lists a server, or no longer. */
  #listing(
    server: string = this.#random.pick(names.servers),
    isListed = this.#random.chance(0.6),
  ): ClientCommand {
    const random = this.#random;
    const collection = random.pick(['services', 'monitors'] as const);
    const holder = random.pick(holders[collection]);
    const patch = collection === 'services' ? patchService : patchMonitor;
    const step: Transition = (snapshot, context) => {
      const others = listOf(snapshot, collection, holder).filter(
        (link) => link !== linkTo('servers', server) && nameKey(link) !== nameKey(linkTo('servers', server)),
      );
      const value = isListed ? [...others, linkTo('servers', server)] : others;
      return patch(snapshot, holder, [{ op: 'replace', path: '/servers', value }], context);
    };
    return {
      kind: `${isListed ? 'list' : 'leave out'} ${server} in ${holder}`,
      step,
      changes: [{ [`${nameKey(holder)} lists ${server}`]: isListed || undefined }],
    };
  }

  #change(number: number): Founding {
    const random = this.#random;
    const isService = random.chance(0.5);
    const name = random.pick(isService ? names.services : names.servers);
    const [field, value] = isService ? ['max_connection', number] : ['port', 1 + (number % 65_535)];
    const operations = [{ op: 'add', path: `/${field}`, value }] as const;
    const patch = isService ? patchService : patchServer;
    const link = linkTo(isService ? 'services' : 'servers', name);
    return {
      kind: `patch ${link}`,
      step: (snapshot, context) => patch(snapshot, name, operations, context),
      changes: [{ [`${nameKey(name)} ${field}`]: value }],
      request: requestOf('PATCH', link, operations, 'application/json-patch+json'),
    };
  }

  #turn(
    name: string = this.#random.pick([...names.services, ...names.monitors]),
    how: 'start' | 'stop' = this.#random.pick(['start', 'stop']),
  ): Founding {
    const isMonitor = names.monitors.some((each) => each === name);
    const turn = turns[isMonitor ? 'monitors' : 'services'][how];
    return {
      kind: turn.name,
      step: (snapshot, context) => turn(snapshot, name, context),
      changes: [{ [`${nameKey(name)} state`]: how === 'start' ? 'started' : 'stopped' }],
      request: {
        method: 'PUT',
        target: `${linkTo(isMonitor ? 'monitors' : 'services', name)}/${how}`,
        headers: {},
      },
    };
  }

  #spelt(name: string): string {
    return this.#random.chance(0.2) ? name.toUpperCase() : name;
  }
}

/** @param detach - whether the resource is taken out of all lists first, if it can be listed */
export function deletionOf(collection: Founded, name: string, detach = false): Founding {
  const lists = detach ? listsOf(collection) : undefined;
  const gone = fieldsOfEach([name]).map((field) => [field, undefined]);
  const detached = lists?.holders.map((each) => [
    `${nameKey(each)} ${lists.verb} ${nameKey(name)}`,
    undefined,
  ]);
  const query = lists === undefined ? '' : '?detach=true';
  return {
    kind: `delete ${collection}${lists === undefined ? '' : ' detached'}`,
    step: (snapshot, context) =>
      deleteResource(snapshot, collection, name, context, { detach: lists !== undefined }),
    changes: [Object.fromEntries([...gone, ...(detached ?? [])]) as Change],
    request: { method: 'DELETE', target: `${linkTo(collection, name)}${query}`, headers: {} },
  };
}

/** What can list a resource; `undefined` for a service or monitor. */
function listsOf(
  collection: Founded,
): { readonly verb: string; readonly holders: readonly string[] } | undefined {
  if (collection === 'servers') return { verb: 'lists', holders: [...holders.services, ...holders.monitors] };
  return collection === 'filters' ? { verb: 'filters', holders: holders.services } : undefined;
}

/** All that clients can see of the things with some names. */
export function fieldsOfEach(some: readonly string[]): readonly string[] {
  const fields = ['port', 'maintenance', 'state', 'max_connection', 'monitor_interval', 'match'].concat(
    ['db-1', 'db-2', ...names.servers].map((server) => `lists ${server}`),
    attached,
  );
  return some.flatMap((name) => fields.map((field) => `${nameKey(name)} ${field}`));
}

/**
 * A change step by step: what starts is created first, and what goes is stopped first. Either stays if the process ends
 * then.
 */
export function inSteps(change: Change): readonly Change[] {
  const between = fieldsOfEach([...names.services, ...names.monitors]).filter(
    (field) => field.endsWith(' state') && field in change && change[field] !== 'stopped',
  );
  if (between.length === 0) return [change];
  return [{ ...change, ...Object.fromEntries(between.map((field) => [field, 'stopped'])) }, change];
}

/** All that is not there if nothing was created. */
export const founded: Change = Object.fromEntries(
  [
    ...fieldsOfEach([...Object.values(names).flat(), 'Mask']),
    ...[...holders.services, ...holders.monitors].flatMap((holder) =>
      names.servers.map((server) => `${nameKey(holder)} lists ${server}`),
    ),
    ...holders.services.flatMap((holder) => attached.map((each) => `${nameKey(holder)} ${each}`)),
  ].map((field) => [field, undefined]),
);

const everyCollection = ['servers', 'services', 'monitors', 'filters'] as const;

function listOf(snapshot: Snapshot, collection: 'services' | 'monitors', name: string): readonly string[] {
  return snapshot[collection].find(name)?.settings.servers ?? [];
}

/** A request with a body. */
export function requestOf(
  method: string,
  target: string,
  body: object,
  type = 'application/json',
): AdminRequest {
  return { method, target, headers: { 'content-type': type }, body: JSON.stringify(body) };
}
