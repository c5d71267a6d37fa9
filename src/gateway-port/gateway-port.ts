/**
 * A gateway port made from functions that bring a gateway to a wanted state: one function and one question for each
 * kind of resource.
 */
import { linkKey, linkTo } from '../core/link.ts';
import { assertMembers } from '../core/member.ts';
import { assertObject } from '../json/value.ts';
import { EffectRefusedError } from '../ports/port-error.ts';
import type { Clock, EffectContext, GatewayLag, Veto } from '../ports/port.ts';
import { systemClock } from '../ports/system-clock.ts';
import { hostProblem, type Problem } from '../problem.ts';
import type { Effect, HostReport } from '../resources/index.ts';
import type { Session } from '../snapshot/session/table.ts';
import { sessionsOf } from '../snapshot/state.ts';
import type { Telemetry } from '../resources/telemetry.ts';
import type { Snapshot } from '../resources/snapshot.ts';
import type { Admin } from '../runtime/admin.ts';
import { createErrorSink, guardClock } from '../runtime/host/guard.ts';
import { Keeper, type AnyKindOptions } from './keeper.ts';
import {
  changedBy,
  deedOf,
  isOfResource,
  KindForm,
  kinds,
  placeOf,
  type AnyWanted,
  type Definition,
  type ResourceEffect,
} from './kind-form.ts';
import type {
  ClosedConnection,
  ClosedSession,
  Closing,
  FieldOf,
  GatewayPortOptions,
  Kind,
  OpenedGatewayPort,
} from './options.ts';

/**
 * Makes the port of a gateway from functions that bring it to a wanted state.
 *
 * For each kind of resource, a gateway gives `apply`, which brings a resource to what is wanted, and `read`, which says
 * what the gateway has. The port does the rest: it finds out what each effect wants, compares what the gateway has with
 * it, puts a resource back when `apply` throws, tries what cannot start again, and answers `inspect`.
 *
 * @param options - what the gateway can do
 * @returns the port. Give it to `createAdmin` or `openAdmin`, and then call its `open`
 * @throws TypeError for an unknown option or field, and for a missing function
 *
 * @example
 * ```ts
 * import { createAdmin, createSnapshot } from 'gateway-admin-core';
 * import { createGatewayPort } from 'gateway-admin-core/gateway-port';
 *
 * const limits = new Map<string, number>();
 * const gateway = createGatewayPort({
 *   services: {
 *     fields: ['max_connection'],
 *     apply(wanted, { key }) {
 *       if (wanted === undefined) limits.delete(key);
 *       else limits.set(key, wanted.max_connection ?? 0);
 *     },
 *     read: (key, applied) => applied && { ...applied, max_connection: limits.get(key) },
 *   },
 *   closeSessions: () => undefined,
 * });
 * const snapshot = createSnapshot({ services: [{ name: 'Echo', router: 'echo', max_connection: 10 }] });
 * const admin = createAdmin({ snapshot, gateway });
 * await gateway.open(admin);
 * limits.get('echo'); // => 10
 * await gateway[Symbol.asyncDispose]();
 * ```
 *
 * @see docs/port-recipes.md, "Write a gateway port".
 *
 * @public
 */
export function createGatewayPort<
  const S extends FieldOf<'service'>,
  const V extends FieldOf<'server'> = never,
  const M extends FieldOf<'monitor'> = never,
  const F extends FieldOf<'filter'> = never,
>(options: GatewayPortOptions<S, V, M, F>): OpenedGatewayPort {
  assertPortOptions(options);
  return new DesiredStatePort(options as unknown as AnyOptions);
}

/** The options, without types. */
interface AnyOptions extends Pick<
  GatewayPortOptions<never>,
  'closeSessions' | 'flushLogs' | 'telemetry' | 'close' | 'onError' | 'clock'
> {
  readonly services: AnyKindOptions;
  readonly servers?: AnyKindOptions;
  readonly monitors?: AnyKindOptions;
  readonly filters?: AnyKindOptions;
  readonly sessionsEnd?: boolean;
  readonly closeConnections?: Closing<ClosedConnection>;
}

/** The number of resources of a kind that are opened at a time. */
const openedAtOnce = 32;

/** The number of resources whose last change is kept, until the snapshot has it. */
const mostBegun = 1000;

/** How long the port waits for the reports of what was closed, in milliseconds, and between two looks. */
const reportsMs = { longest: 1000, pause: 10 };

class DesiredStatePort implements OpenedGatewayPort {
  readonly supports: NonNullable<OpenedGatewayPort['supports']>;
  readonly sessionsEnd: boolean;
  readonly telemetry?: Telemetry;
  readonly #options: AnyOptions;
  readonly #keepers: ReadonlyMap<Kind, Keeper>;
  /** What the commands in flight want, by kind and key: the snapshot shows it when they have settled. */
  readonly #begun = new Map<
    string,
    { readonly command: string; readonly definition: Definition | undefined }
  >();
  readonly #onError: (error: unknown) => void;
  readonly #clock: Clock;
  #admin: Admin | undefined;
  #hasEnded = false;
  /** Whether the last flush was made. One of an earlier process was not. */
  #isFlushed = false;

  constructor(options: AnyOptions) {
    this.#options = options;
    this.#onError = createErrorSink(options.onError);
    this.#clock = guardClock(options.clock ?? systemClock, this.#onError);
    this.supports = options.services.fields.includes('drain')
      ? ['create', 'delete', 'drain']
      : ['create', 'delete'];
    this.sessionsEnd = options.sessionsEnd === true;
    if (options.telemetry !== undefined) this.telemetry = options.telemetry;
    this.#keepers = new Map(
      kinds.flatMap((kind) => {
        const { [`${kind}s` as const]: own } = options;
        return own === undefined ? [] : [[kind, this.#keeperOf(kind, own)] as const];
      }),
    );
  }

  #keeperOf(kind: Kind, own: AnyKindOptions): Keeper {
    const form = new KindForm(kind, own.fields, own.listenerFields);
    const keeper: Keeper = new Keeper(form, own, {
      clock: this.#clock,
      wantedOf: (key) => {
        const { snapshot } = this.#opened;
        const definition = form.definitionIn(snapshot, key);
        return definition && form.wantedOf(definition, snapshot);
      },
      unusableFor: (key) => {
        const { snapshot } = this.#opened;
        const definition = form.definitionIn(snapshot, key);
        return definition && unusable(keeper, definition, undefined, snapshot);
      },
      isHeld: (key) => {
        const link = linkKey(linkTo(`${kind}s`, key));
        const commands = this.#opened.commands();
        return commands.some(({ resources }) => resources.some((each) => linkKey(each) === link));
      },
      report: (key, reason) => {
        const state = reason === undefined ? { state: 'started' } : { state: 'failed', reason };
        this.report({ type: `${kind}.reported`, [kind]: key, ...state } as unknown as HostReport);
      },
      onError: this.#onError,
    });
    return keeper;
  }

  async open(admin: Admin): Promise<void> {
    if (this.#admin !== undefined) throw new Error('The port is open already.');
    if (this.#hasEnded) throw new Error('The port is closed.');
    assertObject(admin, 'admin');
    assertFunction(admin, 'report', 'open of a gateway port');
    this.#admin = admin;
    // What an earlier process had open has ended with it.
    this.report({ type: 'sessions.complete' });
    for (const kind of kinds) {
      const keeper = this.#keepers.get(kind);
      const keys = new KindForm(kind, []).keysIn(admin.snapshot);
      if (keeper === undefined) {
        if (keys.length > 0)
          this.#onError(new Error(`${noKind(kind)} The interface has ${keys.join(', ')}.`));
        continue;
      }
      for (let at = 0; at < keys.length; at += openedAtOnce)
        await Promise.all(keys.slice(at, at + openedAtOnce).map((key) => keeper.open(key)));
    }
  }

  report(report: HostReport | readonly HostReport[]): void {
    this.#admin?.report(report);
  }

  async apply(effect: Effect, context: EffectContext): Promise<void> {
    if (this.#admin === undefined) throw new EffectRefusedError('The gateway is not open yet.');
    if (isOfResource(effect)) return this.#change(effect, context);
    switch (effect.type) {
      case 'sessions.close':
        return this.#closeSessions(effect.sessions, context);
      case 'connections.close':
        return this.#closeConnections(effect, context);
      case 'logs.flush':
        return this.#flush(context);
      default:
        throw new EffectRefusedError(`This gateway cannot do ${(effect as Effect).type}.`);
    }
  }

  /** Before `open`, nothing is in place: the commands of an earlier process have failed. */
  async inspect(effect: Effect): Promise<'in-place' | 'not-in-place'> {
    return this.#admin !== undefined && (await this.#isInPlace(effect)) ? 'in-place' : 'not-in-place';
  }

  readonly veto: Veto = ({ effects, next }) => {
    const reasons = new Map<string, string>();
    for (const effect of effects) {
      const reason = isOfResource(effect) ? this.#refusalOf(effect, next) : this.#refusalOfFlush(effect);
      if (reason !== undefined) reasons.set(effect.resource, reason);
    }
    return reasons.size === 0 ? undefined : unsupported(reasons);
  };

  behind(): readonly GatewayLag[] {
    return [...this.#keepers].flatMap(([kind, { form, failures }]) =>
      Array.from(failures, ([key, failure]) => {
        const { name = key } = (form.definitionIn(this.#opened.snapshot, key) ?? {}) as {
          readonly name?: string;
        };
        return { resource: linkTo(`${kind}s`, name), ...failure };
      }),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#hasEnded = true;
    await Promise.all([...this.#keepers.values()].map((keeper) => keeper.dispose()));
    await this.#options.close?.();
  }

  get #opened(): Admin {
    if (this.#admin === undefined) throw new Error('The port is not open yet.');
    return this.#admin;
  }

  async #change(effect: ResourceEffect, { commandId, signal }: EffectContext): Promise<void> {
    const { kind, key } = placeOf(effect);
    const { snapshot } = this.#opened;
    const keeper = this.#keepers.get(kind);
    if (keeper === undefined) {
      // A gateway without such resources has none to delete.
      if (deedOf(effect) === 'delete') return;
      throw new EffectRefusedError(noKind(kind));
    }
    const users = usersOf(effect, snapshot);
    if (users > 0)
      throw new EffectRefusedError(
        `Clients have come meanwhile. Sessions that use the ${kind}: ${String(users)}.`,
      );
    const place = `${kind} ${key}`;
    const begun = this.#begun.get(place);
    const present = begun?.command === commandId ? begun.definition : keeper.form.definitionIn(snapshot, key);
    const definition = changedBy(effect, present);
    // The undo of a command in flight restores what was there, also with members that the gateway does not use.
    const isFirst = begun?.command !== commandId;
    const reason =
      isFirst && definition ? keeper.form.unusedIn(definition, baseOf(effect, present)) : undefined;
    if (reason !== undefined) throw new EffectRefusedError(reason);
    const inWords = (each: Definition | undefined): AnyWanted | undefined =>
      each && keeper.form.wantedOf(each, snapshot);
    const [wanted, base] = [inWords(definition), inWords(present)];
    const onMade = (): void => {
      this.#begun.delete(place);
      this.#begun.set(place, { command: commandId, definition });
      const [oldest = ''] = this.#begun.keys();
      if (this.#begun.size > mostBegun) this.#begun.delete(oldest);
    };
    const starts = deedOf(effect) === 'start';
    const isTakenBack = starts && !isFirst;
    const objection = (): string | undefined =>
      isTakenBack && definition ? unusable(keeper, definition, undefined, snapshot) : undefined;
    await keeper.change({ key, wanted, base, starts, objection, signal, onMade });
  }

  /** Why the gateway cannot flush its log files, if an effect asks for that. */
  #refusalOfFlush({ type }: Effect): string | undefined {
    return type === 'logs.flush' && this.#options.flushLogs === undefined ? noLogs : undefined;
  }

  /** Why the gateway cannot have what an effect leads to, in a sentence. */
  #refusalOf(effect: ResourceEffect, next: Snapshot): string | undefined {
    const { kind, key } = placeOf(effect);
    if (effect.type === `${kind}.delete`) return undefined;
    const keeper = this.#keepers.get(kind);
    if (keeper === undefined) return noKind(kind);
    const [definition, present] = [next, this.#admin?.snapshot].map(
      (snapshot) => snapshot && keeper.form.definitionIn(snapshot, key),
    );
    return definition && unusable(keeper, definition, baseOf(effect, present), next);
  }

  async #isInPlace(effect: Effect): Promise<boolean> {
    if (isOfResource(effect)) {
      const { kind, key } = placeOf(effect);
      const keeper = this.#keepers.get(kind);
      return keeper === undefined ? deedOf(effect) === 'delete' : keeper.isInPlace(effect, key);
    }
    if (effect.type === 'sessions.close') return !effect.sessions.some((each) => this.#find(each));
    if (effect.type === 'connections.close') return this.#openOf(effect).length === 0;
    // A later version can have further types.
    const { type }: { readonly type: string } = effect;
    return type === 'logs.flush' && this.#isFlushed;
  }

  async #flush({ signal }: EffectContext): Promise<void> {
    const { flushLogs } = this.#options;
    if (flushLogs === undefined) throw new EffectRefusedError(noLogs);
    this.#isFlushed = false;
    await flushLogs({ signal });
    this.#isFlushed = true;
  }

  async #closeSessions(given: readonly ClosedSession[], { signal }: EffectContext): Promise<void> {
    const open = (): readonly ClosedSession[] => given.filter((each) => this.#find(each) !== undefined);
    const sessions = open();
    if (sessions.length === 0) return;
    await this.#options.closeSessions(sessions, { signal });
    await this.#reported(open, ({ id }) => `session ${String(id)}`);
  }

  async #closeConnections(
    effect: Extract<Effect, { readonly type: 'connections.close' }>,
    context: EffectContext,
  ): Promise<void> {
    const { closeConnections } = this.#options;
    const open = (): readonly ClosedConnection[] => this.#openOf(effect);
    const connections = open();
    if (connections.length === 0) return;
    if (closeConnections === undefined) {
      const sessions = new Map(connections.map(({ session: id, connected }) => [id, { id, connected }]));
      return this.#closeSessions([...sessions.values()], context);
    }
    await closeConnections(connections, { signal: context.signal });
    await this.#reported(open, ({ session, id }) => `connection ${String(id)} of session ${String(session)}`);
  }

  /** Waits until the ends of all things are reported. A report that is lost must not keep them for ever. */
  async #reported<T>(open: () => readonly T[], nameOf: (thing: T) => string): Promise<void> {
    for (let waited = 0; waited < reportsMs.longest; waited += reportsMs.pause) {
      if (open().length === 0) return;
      await this.#clock.sleep(reportsMs.pause);
    }
    const [first] = open();
    if (first !== undefined)
      this.#onError(
        new Error(`The gateway has closed ${nameOf(first)}, and has not reported its end within a second.`),
      );
  }

  /** The session of an id and a time, if it is still open. */
  #find({ id, connected }: ClosedSession): Session | undefined {
    const session = this.#opened.snapshot.sessions.find(id);
    return session?.connected === connected ? session : undefined;
  }

  /** The connections of an effect that are still on its server. */
  #openOf({
    server,
    connections,
  }: Extract<Effect, { readonly type: 'connections.close' }>): readonly ClosedConnection[] {
    return connections.flatMap(({ session, connected, id }) => {
      const found = this.#find({ id: session, connected })?.connections.find((each) => each.id === id);
      return found?.server === server ? [{ session, connected, id, server }] : [];
    });
  }
}

const shared = ['closeSessions', 'flushLogs', 'telemetry', 'close', 'onError', 'clock'] as const;
const known = ['services', 'servers', 'monitors', 'filters', 'sessionsEnd', 'closeConnections', ...shared];

function assertPortOptions(options: object): void {
  assertMembers(options, known, 'option of createGatewayPort');
  const given: Partial<AnyOptions> = options;
  if (given.services === undefined) throw new TypeError('createGatewayPort needs services');
  assertFunction(given, 'closeSessions');
  for (const name of ['flushLogs', 'close', 'onError'] as const)
    if (given[name] !== undefined) assertFunction(given, name);
  if (given.clock !== undefined)
    for (const name of ['now', 'sleep']) assertFunction(given.clock, name, 'the clock');
  for (const kind of kinds) {
    const own = given[`${kind}s`];
    if (own !== undefined) assertKindOptions(kind, own);
  }
  assertClosing(given);
  if (given.servers === undefined) return;
  const [one, other] = [given.services, given.servers].map(({ fields }) => fields.includes('drain'));
  if (one !== other) throw new TypeError('List the field drain for services and for servers, or for neither');
}

/** What becomes of a session whose connection is closed is said in one way. */
function assertClosing(given: Partial<AnyOptions>): void {
  const { servers, sessionsEnd, closeConnections } = given as Readonly<Record<string, unknown>>;
  if (sessionsEnd !== undefined && typeof sessionsEnd !== 'boolean')
    throw new TypeError('sessionsEnd of createGatewayPort must be true or false');
  if (sessionsEnd === true && closeConnections !== undefined)
    throw new TypeError('Give createGatewayPort closeConnections or sessionsEnd: true, and not both');
  if (servers !== undefined && sessionsEnd !== true) assertFunction(given, 'closeConnections');
}

const kindMembers = ['fields', 'apply', 'read', 'refuse'];

function assertKindOptions(kind: Kind, own: AnyKindOptions): void {
  const name = `${kind}s`;
  assertObject(own, name);
  const members = kind === 'service' ? [...kindMembers, 'listenerFields'] : kindMembers;
  assertMembers(own, members, `member of ${name}`);
  const { fields, listenerFields = [], refuse } = own;
  assertNames(fields, KindForm.fieldsOf(kind), `${name}.fields`, `field of ${name}`);
  assertNames(listenerFields, KindForm.fieldsOfListener, `${name}.listenerFields`, 'field of listeners');
  for (const member of ['apply', 'read', ...(refuse === undefined ? [] : ['refuse'])])
    assertFunction(own, member, name);
}

/** @throws TypeError if a value is no list of names, or if one of them is unknown */
function assertNames(value: unknown, known: readonly string[], what: string, kind: string): void {
  if (!Array.isArray(value) || !value.every((each) => typeof each === 'string'))
    throw new TypeError(`createGatewayPort needs ${what}: a list of names`);
  assertMembers(Object.fromEntries(value.map((each) => [each, true])), known, kind);
}

/** @throws TypeError if a member of an object is no function */
function assertFunction(object: object, name: string, whose = 'createGatewayPort'): void {
  const { [name]: value } = object as Readonly<Record<string, unknown>>;
  if (typeof value !== 'function') throw new TypeError(`${whose} needs the function ${name}`);
}

/** What an effect changes of what is there. What is created or started counts as a whole. */
function baseOf(effect: ResourceEffect, present: Definition | undefined): Definition | undefined {
  const deed = deedOf(effect);
  const isWhole = effect.type !== 'listener.create' && (deed === 'create' || deed === 'start');
  return isWhole ? undefined : present;
}

/** The number of sessions that use what an effect deletes. */
function usersOf(effect: ResourceEffect, snapshot: Snapshot): number {
  const sessions = sessionsOf(snapshot);
  if (effect.type === 'service.delete') return sessions.countOfService(effect.service);
  return effect.type === 'server.delete' ? sessions.countSessionsOfServer(effect.server) : 0;
}

/**
 * Why the gateway cannot have a definition, in a sentence.
 *
 * @param base - what it changes; `undefined` for a definition that counts as a whole
 */
function unusable(
  keeper: Keeper,
  definition: Definition,
  base: Definition | undefined,
  snapshot: Snapshot,
): string | undefined {
  const unused = keeper.form.unusedIn(definition, base);
  if (unused !== undefined) return unused;
  const [wanted, own] = [definition, base].map((each) => each && keeper.form.wantedOf(each, snapshot));
  const reason = wanted && keeper.refusalOf(wanted, own);
  if (reason === undefined) return undefined;
  // What the gateway has in spite of its rule can be changed in any way.
  const isOld = own !== undefined && keeper.refusalOf(own, undefined) !== undefined;
  return isOld ? undefined : reason;
}

const noLogs = 'This gateway has no log files to flush.';

function noKind(kind: Kind): string {
  return `This gateway has no ${kind}s.`;
}

/** @param reasons - why the gateway cannot have a resource, by its link */
function unsupported(reasons: ReadonlyMap<string, string>): Problem {
  return hostProblem('host-setting-unsupported', {
    status: 422,
    title: 'The gateway does not support this',
    detail: Array.from(reasons, ([link, reason]) => `${link}: ${reason}`).join(' '),
  });
}
