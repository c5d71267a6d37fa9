/**
 * Convergence: this gateway follows what the other nodes have changed.
 *
 * Compares the configuration of the fleet with that of this node, and applies the difference. A change that was taken
 * back before this gateway could follow leaves no trace.
 */
import type { FleetPlace } from '../core/decision.ts';
import { linkKey, parseLink } from '../core/link.ts';
import { nameKey } from '../core/name.ts';
import { problem, type Problem } from '../problem.ts';
import type { Clock } from '../ports/port.ts';
import { followResources, namedResources, type Transition } from '../resources/index.ts';
import { followInterface } from '../resources/mode.ts';
import { stopService, type Service } from '../resources/service.ts';
import { followUsers } from '../resources/user.ts';
import type { Execution, Refusal } from '../runtime/command/execution.ts';
import type { Behind } from '../resources/command.ts';
import { Follower } from '../runtime/command/follower.ts';
import { callerLinks, modeLink } from '../runtime/journal/basis.ts';
import type { Instruments } from '../runtime/instrumentation/instruments.ts';
import { noJournal, type Journal, type Keeping } from '../runtime/journal/journal.ts';
import { evolving, type Fold } from '../runtime/journal/log.ts';
import type { CommandRequest } from '../runtime/command/turn.ts';
import { linksOf } from '../resources/shared/use.ts';
import { collectionOf, find, linkOf } from '../snapshot/state.ts';
import type { Snapshot } from '../resources/snapshot.ts';
import { nodeBehind } from './refusal.ts';
import { foldAt, type Align } from './aligning.ts';

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
  readonly onFollowed: (link: string) => void;
  readonly clock: Clock;
  readonly instruments: Pick<Instruments, 'behind' | 'followed'> | undefined;
  /** Never throws. */
  readonly onError: (error: unknown) => void;
}

/** Follows the fleet, each resource by itself, and all at once. @internal */
export class Convergence {
  readonly #options: ConvergenceOptions;
  /** Follows each resource, by the key of its link. */
  readonly #follower: Follower;
  /** Begins what is only noted; left out once the gateway is asked. */
  #waiting: (() => Promise<unknown>)[] | undefined = [];

  constructor(options: ConvergenceOptions) {
    this.#options = options;
    const { clock, instruments, onFollowed, onError } = options;
    this.#follower = new Follower({
      clock,
      attempt: ([, link]) => this.#try(link),
      onStuck: (resource, problem) => {
        onError(new Error(notFollowed(resource, problem)));
      },
      onFollowed: ([, link], wasStuck) => {
        instruments?.behind(this.#follower.size);
        if (wasStuck) instruments?.followed(link);
        onFollowed(link);
      },
    });
  }

  /** The resources at which this gateway is behind. */
  get behind(): readonly Behind[] {
    return this.#follower.behind.map(([, behind]) => behind);
  }

  /** The refusal of a command on a resource that this gateway has not followed. */
  refusalAt(link: string): Refusal | undefined {
    const behind = this.#follower.find(linkKey(link)) ?? this.#comingOrGoing(link);
    return behind && nodeBehind(behind.resource, behind.problem?.detail);
  }

  /**
   * What must still come or go in a list, because a refusal for a name that nothing has rests on the list; or what must
   * still list a resource or leave it out, because a deletion rests on that.
   */
  #comingOrGoing(link: string): Behind | undefined {
    return this.#follower.behind.find(([resource]) => this.#mentionsDiffer(resource, linkKey(link)))?.[1];
  }

  /** Whether a resource mentions a link in another way here than in the fleet. Both are keys. */
  #mentionsDiffer(resource: string, of: string): boolean {
    const [own, fleet] = [this.#options.own(), this.#options.fleet()];
    return mentionOf(resource, of, own) !== mentionOf(resource, of, fleet);
  }

  /** Asks the gateway from now on. Until then, resources to follow are only noted. */
  begin(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const begin of waiting) void begin();
  }

  /** Asks the gateway again at once for everything that it has not followed. */
  retry(): void {
    this.#follower.retry();
  }

  /** Follows resources; all of them if no links are given. A list is what its resources are. */
  follow(links: readonly string[] | undefined): void {
    const followed = (links ?? this.#all()).filter(isFollowed);
    const begin = this.#follower.note(followed.map((link) => [linkKey(link), link]));
    this.#options.instruments?.behind(this.#follower.size);
    // Only now: the first execution gives every waiting command a turn, and each must see that this gateway is behind.
    if (this.#waiting === undefined) void begin();
    else this.#waiting.push(begin);
  }

  close(): void {
    this.#follower.close();
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

  /**
   * Follows what lists a resource here and not in the fleet, or the other way round. A resource in the place of another
   * leaves all lists at first, and what comes after that may fail. The command holds the lists until they are noted.
   *
   * @param resources - the links of the resources of a command that follows the resource
   */
  #followLists(link: string, resources: readonly string[]): void {
    const differing = resources.filter((each) => this.#mentionsDiffer(linkKey(each), linkKey(link)));
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
    return nodeBehind(replaced, this.#follower.find(linkKey(replaced))?.problem?.detail).problem;
  }

  /** Follows a resource once. Gives the reason if the gateway has not followed, or a part is left. Never rejects. */
  async #try(link: string): Promise<Problem | undefined> {
    const { fleet, align, placeOf, execute, onError } = this.#options;
    let fold = evolving;
    let left: Problem | undefined;
    const transition: Transition = (snapshot, context) => {
      const followed = fleet();
      // The log can move on before the gateway has followed.
      fold = foldAt(align, placeOf(link));
      if (link === modeLink) return followInterface(snapshot, followed, context);
      if (link === '/users') return followUsers(snapshot, followed, context);
      const decision = followResources(snapshot, followed, context, [link]);
      left = this.#replacedFirst(link, decision.next);
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
      left = decision.problem;
      return stopping;
    };
    const onKept = (resources: readonly string[]): void => {
      this.#followLists(link, resources);
    };
    try {
      const journal = followingJournal(() => fold, onKept);
      const execution = await execute({ transition, isDecided: true, journal });
      const isDone = execution.outcome === 'accepted' || execution.outcome === 'unchanged';
      return isDone ? left : execution.problem;
    } catch (error) {
      onError(error);
      return problem('internal', 'The change could not be followed. The log of this node has the error.');
    }
  }
}

function notFollowed(resource: string, { detail }: Problem): string {
  return (
    `The gateway of this node has not followed a change of ${resource} that another node has made. ${detail} The node ` +
    'tries again, at the latest after a minute. Remove the cause, and let the node try at once with ' +
    'POST /fleet/behind/retry, or take the change back.'
  );
}

/**
 * How a resource mentions another link, for a comparison of two snapshots: `/services/Sales` mentions `/servers/db-1`
 * if it lists that server, and its own list, `/services`, with the listeners that it has.
 *
 * @param resource - the key of the link of the resource
 * @param of - the key of the other link
 */
function mentionOf(resource: string, of: string, snapshot: Snapshot): string | undefined {
  return resource.startsWith(`${of}/`) ? listenersIn(resource, snapshot) : lists(resource, of, snapshot);
}

/** The names of the listeners of a service; `undefined` if there is no such resource. */
function listenersIn(resource: string, snapshot: Snapshot): string | undefined {
  const found = thingAt(resource, snapshot);
  const { listeners = [] } = (found?.thing ?? {}) as Partial<Service>;
  const names = listeners.map(({ name }) => nameKey(name));
  return found && names.toSorted().join('/');
}

function lists(resource: string, link: string, snapshot: Snapshot): 'listed' | undefined {
  return linksAt(resource, snapshot).some((each) => linkKey(each) === link) ? 'listed' : undefined;
}

/** The links that a resource lists. */
function linksAt(link: string, snapshot: Snapshot): readonly string[] {
  const found = thingAt(linkKey(link), snapshot);
  return found === undefined ? [] : linksOf(found.named, found.thing);
}

/** The resource with a key of a link. */
function thingAt(place: string, snapshot: Snapshot) {
  const named = namedResources.find(({ collection }) => place.startsWith(`/${collection}/`));
  const thing = named && find(snapshot, named, parseLink(place, named.collection) ?? '');
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
