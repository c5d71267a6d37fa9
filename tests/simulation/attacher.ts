/**
 * Clients that let the listeners of services come and go, and let services list filters that come and go.
 */
import {
  createListener,
  createResource,
  deleteListener,
  linkTo,
  nameKey,
  patchService,
  type Transition,
} from 'gateway-admin-core';
import type { Random } from 'gateway-admin-core/testing';

import type { Asked } from './answer.ts';
import { inSequence, type ClientCommand } from './command.ts';
import { deletionOf, fieldsOfEach, inSteps, requestOf, type Founding } from './founder.ts';

const services = ['Sales', 'Reports', 'New', 'Other'] as const;
const filters = ['Extra', 'Mask'] as const;
const listeners = ['In', 'Out', 'OUT'] as const;

export class Attacher {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  /**
   * What is asked at once: one command, or two that meet.
   *
   * @param number - differs from command to command, by at least two
   */
  next(number: number): readonly Asked[] {
    const random = this.#random;
    if (random.chance(0.6)) return [this.#asked(this.#one(number))];
    const [service, filter, listener] = [random.pick(services), random.pick(filters), random.pick(listeners)];
    const rivals = [
      () => [this.#listing(service, filter, true), this.#deletion(filter)],
      () => [this.#service(number, filter), this.#deletion(filter)],
      () => [this.#filter(number, filter), this.#filter(number + 1, filter.toUpperCase())],
      () => [this.#opening(number, service, listener), this.#closing(service, listener)],
      () => [this.#opening(number, service, 'Out'), this.#opening(number + 1, service, 'OUT')],
      () => [this.#opening(number, 'New'), deletionOf('services', 'New')],
    ];
    const pair = random
      .pick(rivals)()
      .map((each) => this.#asked(each));
    return random.chance(0.5) ? pair : pair.toReversed();
  }

  #one(number: number): ClientCommand {
    const random = this.#random;
    const [service, filter] = [random.pick(services), random.pick(filters)];
    const makers = [
      () => this.#opening(number),
      () => this.#opening(number),
      () => this.#closing(),
      () => this.#filter(number),
      () => this.#deletion(),
      () => this.#listing(),
      () => this.#listing(),
      () => this.#service(number),
      () => inSequence([this.#filter(number, filter), this.#listing(service, filter, true)]),
      () => inSequence([this.#filter(number, filter), this.#service(number + 1, filter)]),
      // Who reads on later sees another filter in the lists.
      () =>
        inSequence([
          this.#deletion(filter),
          this.#filter(number, filter),
          this.#listing(service, filter, true),
        ]),
      () => inSequence([this.#listing(service, filter, false), this.#deletion(filter)]),
      () => inSequence([this.#closing(service, 'In'), this.#opening(number, service, 'In')]),
      () => inSequence([this.#service(number), this.#opening(number + 1, 'New')]),
    ];
    return random.pick(makers)();
  }

  /** A command in the process, or a request. */
  #asked(command: ClientCommand): Asked {
    if ('request' in command && this.#random.chance(0.5)) return command as Asked;
    const { kind, step, changes } = command;
    return { kind, step, changes };
  }

  /** A service gets a listener. */
  #opening(
    number: number,
    service: string = this.#random.pick(services),
    name: string = this.#random.pick(listeners),
  ): Founding {
    const definition = { name, protocol: 'pg', address: '10.0.0.9', port: 1 + (number % 65_535) };
    return {
      kind: `create listener ${name} of ${service}`,
      step: (snapshot, context) => createListener(snapshot, service, definition, context),
      changes: [{ [`${nameKey(service)} listens ${nameKey(name)}`]: definition.port }],
      request: requestOf('POST', `${linkTo('services', service)}/listeners`, definition),
    };
  }

  /** A service loses a listener. */
  #closing(
    service: string = this.#random.pick(services),
    name: string = this.#random.pick(listeners),
  ): Founding {
    return {
      kind: `delete listener ${name} of ${service}`,
      step: (snapshot, context) => deleteListener(snapshot, service, name, context),
      changes: [{ [`${nameKey(service)} listens ${nameKey(name)}`]: undefined }],
      request: {
        method: 'DELETE',
        target: `${linkTo('services', service)}/listeners/${name}`,
        headers: {},
      },
    };
  }

  #filter(number: number, name: string = this.#random.pick(filters)): Founding {
    const definition = {
      ...{ name, module: number % 3 === 0 ? 'tee' : 'mask' },
      parameters: { match: { value: String(number), configurable: true } },
    };
    return {
      kind: `create filter ${name}`,
      step: (snapshot, context) => createResource(snapshot, 'filters', definition, context),
      changes: [{ [`${nameKey(name)} match`]: String(number) }],
      request: requestOf('POST', '/filters', definition),
    };
  }

  #deletion(name: string = this.#random.pick(filters)): Founding {
    return deletionOf('filters', name, this.#random.chance(0.5));
  }

  /** A service lists a filter, before or behind the others, or no longer. */
  #listing(
    service: string = this.#random.pick(services),
    filter: string = this.#random.pick(filters),
    isListed = this.#random.chance(0.6),
  ): ClientCommand {
    const [link, isFirst] = [linkTo('filters', filter), this.#random.chance(0.5)];
    const step: Transition = (snapshot, context) => {
      const listed = snapshot.services.find(service)?.settings.filters ?? [];
      const others = listed.filter((each) => nameKey(each) !== nameKey(link));
      const value = !isListed ? others : isFirst ? [link, ...others] : [...others, link];
      return patchService(snapshot, service, [{ op: 'replace', path: '/filters', value }], context);
    };
    return {
      kind: `${isListed ? 'list' : 'leave out'} ${filter} in ${service}`,
      step,
      changes: [{ [`${nameKey(service)} filters ${nameKey(filter)}`]: isListed || undefined }],
    };
  }

  /** A new service that lists filters, and has two listeners. */
  #service(number: number, listed?: string): Founding {
    const random = this.#random;
    const some = filters.filter((each) => each === listed || random.chance(0.4));
    const state = random.pick(['started', 'stopped'] as const);
    const [port, other] = [1 + (number % 65_535), 5000];
    const definition = {
      ...{ name: 'New', router: 'a', servers: ['/servers/db-1'], max_connection: number, state },
      filters: some.map((each) => linkTo('filters', each)),
      listeners: [
        { name: 'In', protocol: 'pg', address: '10.0.0.9', port },
        { name: 'Out', protocol: 'pg', address: '10.0.0.9', port: other },
      ],
    };
    const change = {
      ...Object.fromEntries(fieldsOfEach(['New']).map((field) => [field, undefined])),
      ...{ 'new max_connection': number, 'new state': state, 'new lists db-1': true },
      ...Object.fromEntries(some.map((each) => [`new filters ${nameKey(each)}`, true])),
      ...{ 'new listens in': port, 'new listens out': other },
    };
    return {
      kind: 'create services',
      step: (snapshot, context) => createResource(snapshot, 'services', definition, context),
      changes: inSteps(change),
      request: requestOf('POST', '/services', definition),
    };
  }
}
