/**
 * Convergence: this gateway follows what the other nodes have changed.
 *
 * Compares the configuration of the fleet with that of this node, and applies the difference. A change that was taken
 * back before this gateway could follow leaves no trace.
 */
import type { FleetPlace } from '../core/decision.ts';
import { linkKey, parseLink } from '../core/link.ts';
import { nameKey } from '../core/name.ts';
import { problem, type Problem, type ProblemCode } from '../problem.ts';
import type { Clock } from '../ports/port.ts';
import { followResource, namedResources, type Transition } from '../resources/index.ts';
import { followInterface } from '../resources/mode.ts';
import { stopService, type Service } from '../resources/service.ts';
import { followUsers } from '../resources/user.ts';
import type { Execution, Refusal } from '../runtime/command/execution.ts';
import { callerLinks, modeLink } from '../runtime/journal/basis.ts';
import { backoff, tryPauses } from '../runtime/host/waiting.ts';
import type { Instruments } from '../runtime/instrumentation/instruments.ts';
import { noJournal, type Journal, type Keeping } from '../runtime/journal/journal.ts';
import { evolving, type Fold } from '../runtime/journal/log.ts';
import type { CommandRequest } from '../runtime/command/turn.ts';
import { linksOf, referrersIn } from '../resources/shared/use.ts';
import { collectionOf, find, linkOf } from '../snapshot/state.ts';
import type { Snapshot } from '../resources/snapshot.ts';
import { deletes } from '../runtime/command/stage.ts';
import { nodeBehind } from './refusal.ts';
import type { SharedCommand } from './shared-history.ts';
import { foldAt, type Align } from './version.ts';

/** A resource at which this gateway is not what the fleet has. @internal */
export interface Behind {
  /** Link of the resource. */
  readonly resource: string;
  /** Why the gateway has not followed; left out while it is asked for the first time. */
  readonly problem?: Problem;
  /** Since when, in milliseconds since 1970-01-01T00:00:00Z. */
  readonly since: number;
}

/** The options of {@link Convergence}. @internal */
export interface ConvergenceOptions {
  /** What the fleet has. */
  readonly fleet: () => Snapshot;
  /** What this node has. */
  readonly own: () => Snapshot;
  readonly align: Align;
  readonly placeOf: (link: string) => FleetPlace | undefined;
  readonly execute: (request: CommandRequest) => Promise<Execution>;
  /** A resource is as the fleet has it. */
  readonly onFollowed: () => void;
  readonly clock: Clock;
  readonly instruments: Pick<Instruments, 'behind' | 'followed'> | undefined;
  /** Never throws. */
  readonly onError: (error: unknown) => void;
}

/** The problems whose cause is in the gateway. Other causes have errors of their own. */
const gatewayCodes: ReadonlySet<string> = new Set([
  'effect-refused',
  'partly-done',
  'outcome-unknown',
  'not-supported',
] satisfies ProblemCode[]);

/** A resource on the way to what the fleet has. */
interface Row {
  behind: Behind;
  /** Ends the pause: the resource has changed again, or an operator wants another try. */
  wake: AbortController;
  /** Whether the operator knows that the gateway does not follow. */
  isTold: boolean;
}

/** Follows the fleet, one resource at a time, all resources at once. @internal */
export class Convergence {
  readonly #options: ConvergenceOptions;
  /** The rows, by the key of the link. */
  readonly #rows = new Map<string, Row>();
  readonly #closed = new AbortController();
  #hasBegun = false;

  constructor(options: ConvergenceOptions) {
    this.#options = options;
  }

  /** The resources at which this gateway is behind. */
  get behind(): readonly Behind[] {
    return Array.from(this.#rows.values(), ({ behind }) => behind);
  }

  /** Whether the gateway is to follow what a link names, by the key of the link. Users are followed together. */
  isBehind(link: string): boolean {
    return this.#rows.has(link.startsWith('/users/') ? '/users' : link);
  }

  /** The refusal of a command on a resource that this gateway has not followed. */
  obstacleTo(link: string): Refusal | undefined {
    const row = this.#rows.get(linkKey(link)) ?? this.#comingOrGoing(link);
    return row && nodeBehind(row.behind.resource, row.behind.problem?.detail);
  }

  /**
   * What must still come or go in a list, because a refusal for a name that nothing has rests on the list; or what must
   * still list a resource or leave it out, because a deletion rests on that.
   */
  #comingOrGoing(link: string): Row | undefined {
    if (this.#rows.size === 0) return undefined;
    const key = linkKey(link);
    const [own, fleet] = [this.#options.own(), this.#options.fleet()];
    for (const [each, row] of this.#rows) if (saidOf(key, each, own) !== saidOf(key, each, fleet)) return row;
    return undefined;
  }

  /** Asks the gateway from now on. Until then, resources to follow are only noted. */
  begin(): void {
    this.#hasBegun = true;
    for (const row of [...this.#rows.values()]) void this.#converge(row);
  }

  /** Asks the gateway again at once for everything that it has not followed. */
  retry(): void {
    this.follow([...this.#rows.keys()]);
  }

  /** Follows resources; all of them if no links are given. A list is what its resources are. */
  follow(links: readonly string[] | undefined): void {
    const { clock, instruments } = this.#options;
    const fresh: Row[] = [];
    for (const link of (links ?? this.#all()).filter(isFollowed)) {
      const key = linkKey(link);
      const row = this.#rows.get(key);
      if (row !== undefined) {
        row.wake.abort();
        continue;
      }
      const behind = { resource: link, since: clock.now() };
      const begun = { behind, wake: new AbortController(), isTold: false };
      this.#rows.set(key, begun);
      fresh.push(begun);
    }
    instruments?.behind(this.#rows.size);
    // Only now: the first execution gives every waiting command a turn, and each must see that this gateway is behind.
    if (this.#hasBegun) for (const row of fresh) void this.#converge(row);
  }

  /** Follows what an abandoned command may have changed: its resources, and what lists those that it deletes. */
  followUnseen({ resources, effects }: SharedCommand['intent']): void {
    const fleet = this.#options.fleet();
    const listing = effects.filter(deletes).flatMap(({ resource }) => {
      const [, collection = ''] = resource.split('/');
      const referrers = referrersIn(fleet, namedResources, collection, resource);
      return referrers.map(({ named, thing }) => linkOf(named.collection, thing));
    });
    this.follow([...resources, ...listing]);
  }

  close(): void {
    this.#closed.abort();
    for (const { wake } of this.#rows.values()) wake.abort();
  }

  #all(): readonly string[] {
    const snapshots = [this.#options.own(), this.#options.fleet()];
    const links = namedResources.flatMap((named) => {
      const { collection, adoption } = named;
      if (adoption === undefined) return [`/${collection}`];
      return snapshots.flatMap((snapshot) =>
        Array.from(collectionOf(snapshot, named), (entity) => linkOf(collection, entity)),
      );
    });
    // What the gateway is making now may be in neither.
    const making = this.behind.map(({ resource }) => resource);
    return [...new Set([modeLink, ...links, ...making])];
  }

  async #converge(row: Row): Promise<void> {
    const { clock, instruments, onFollowed } = this.#options;
    const { resource: link } = row.behind;
    let pauses = backoff(tryPauses);
    while (!this.#closed.signal.aborted) {
      const reason = await this.#try(link);
      const isNew = row.wake.signal.aborted;
      row.wake = new AbortController();
      if (reason === undefined && !isNew) {
        this.#rows.delete(linkKey(link));
        this.#wakeOthers();
        instruments?.behind(this.#rows.size);
        if (row.isTold) instruments?.followed(link);
        onFollowed();
        return;
      }
      if (reason !== undefined) this.#keep(row, reason);
      if (!isNew) await clock.sleep(pauses.next().value, row.wake.signal, { keepAlive: false });
      if (isNew || row.wake.signal.aborted) pauses = backoff(tryPauses);
      row.wake = new AbortController();
    }
  }

  /**
   * Follows what lists a resource here and not in the fleet, or the other way round. A resource in the place of another
   * leaves all lists at first, and what comes after that may fail. The command holds the lists until they are noted.
   *
   * @param resources - the links of the resources of a command that follows the resource
   */
  #followLists(link: string, resources: readonly string[]): void {
    const key = linkKey(link);
    const [own, fleet] = [this.#options.own(), this.#options.fleet()];
    const differing = resources.filter((each) => {
      const place = linkKey(each);
      return saidOf(key, place, own) !== saidOf(key, place, fleet);
    });
    if (differing.length > 0) this.follow(differing);
  }

  /**
   * Why a resource that is followed is not as the fleet has it all the same: it lists something here in whose place
   * the fleet has another resource by now, which has the name in another spelling.
   */
  #replacedFirst(link: string, followed: Snapshot): Problem | undefined {
    const here = linksAt(link, followed);
    const replaced = linksAt(link, this.#options.fleet()).find((each, at) => each !== here[at]);
    if (replaced === undefined) return undefined;
    return nodeBehind(replaced, this.#rows.get(linkKey(replaced))?.behind.problem?.detail).problem;
  }

  /** What could not be followed may have waited for what was followed now: for a resource to link, or for a list. */
  #wakeOthers(): void {
    for (const { behind, wake } of this.#rows.values()) if (behind.problem !== undefined) wake.abort();
  }

  /** Keeps why the gateway has not followed a resource, and tells the operator once. */
  #keep(row: Row, reason: Problem): void {
    row.behind = { ...row.behind, problem: reason };
    if (row.isTold || !gatewayCodes.has(reason.code)) return;
    row.isTold = true;
    this.#options.onError(
      new Error(
        `The gateway of this node has not followed a change of ${row.behind.resource} that another node has made. ` +
          `${reason.detail} The node tries again, at the latest after a minute. Remove the cause, and let the node try at ` +
          'once with POST /fleet/behind/retry, or take the change back.',
      ),
    );
  }

  /** Follows a resource once. Gives the reason if the gateway has not followed. Never rejects. */
  async #try(link: string): Promise<Problem | undefined> {
    try {
      const left: { problem?: Problem | undefined } = {};
      const execution = await this.#options.execute(this.#requestFor(link, left));
      const isDone = execution.outcome === 'accepted' || execution.outcome === 'unchanged';
      return isDone ? left.problem : execution.problem;
    } catch (error) {
      this.#options.onError(error);
      return problem('internal', 'The change could not be followed. The log of this node has the error.');
    }
  }

  /** @param left - gets why a part is left */
  #requestFor(link: string, left: { problem?: Problem | undefined }): CommandRequest {
    const { fleet, align, placeOf } = this.#options;
    let fold = evolving;
    const transition: Transition = (snapshot, context) => {
      const followed = fleet();
      // The log can move on before the gateway has followed.
      fold = foldAt((own, revision) => align(own, followed, revision), placeOf(link));
      if (link === modeLink) return followInterface(snapshot, followed, context);
      if (link === '/users') return followUsers(snapshot, followed, context);
      const decision = followResource(snapshot, followed, context, link);
      left.problem = this.#replacedFirst(link, decision.next);
      const service = parseLink(link, 'services');
      if (
        decision.outcome !== 'refused' ||
        decision.problem.code !== 'resource-in-use' ||
        service === undefined
      )
        return decision;
      // A service that must go takes no more sessions, so that the sessions come to an end.
      const stopping = stopService(snapshot, service, context);
      if (stopping.outcome !== 'accepted') return decision;
      left.problem = decision.problem;
      return stopping;
    };
    const onKept = (resources: readonly string[]): void => {
      this.#followLists(link, resources);
    };
    return { transition, isDecided: true, journal: followingJournal(() => fold, onKept) };
  }
}

/**
 * What a resource says of a link: of its own list, which listeners it has in there; of any other link, whether it lists
 * it.
 *
 * @param key - the key of the link
 * @param place - the key of the link of the resource
 */
function saidOf(key: string, place: string, snapshot: Snapshot): string | undefined {
  const found = thingAt(place, snapshot);
  if (found === undefined) return undefined;
  if (key === `/${found.named.collection}`) {
    const { listeners = [] } = found.thing as Partial<Service>;
    return listeners
      .map(({ name }) => nameKey(name))
      .toSorted()
      .join('/');
  }
  return linksAt(place, snapshot).some((link) => linkKey(link) === key) ? 'listed' : undefined;
}

/** The links that a resource lists. */
function linksAt(link: string, snapshot: Snapshot): readonly string[] {
  const found = thingAt(linkKey(link), snapshot);
  return found === undefined ? [] : linksOf(found.named, found.thing);
}

/** The resource with a key of a link. */
function thingAt(place: string, snapshot: Snapshot) {
  const named = namedResources.find(({ collection }) => place.startsWith(`/${collection}/`));
  const thing = named && find(snapshot, named, place.slice(named.collection.length + 2));
  return thing && { named, thing };
}

function isFollowed(link: string): boolean {
  return link.lastIndexOf('/') > 0 || callerLinks.includes(link);
}

/**
 * The journal of what the log of the fleet has already.
 *
 * @param onKept - gets the resources of the command with each of its records
 */
function followingJournal(fold: () => Fold, onKept: (resources: readonly string[]) => void): Journal {
  const keep = <T>({ resources, then }: Keeping<T>): T => {
    const kept = then(fold());
    onKept(resources);
    return kept;
  };
  return { ...noJournal, keep: async (keeping) => Promise.resolve(keep(keeping)) };
}
