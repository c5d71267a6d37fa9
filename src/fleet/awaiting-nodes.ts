/**
 * Awaiting nodes: after a change of this node, waits until the other nodes have followed.
 */
import { isWithin } from '../core/link.ts';
import { assertObject } from '../json/value.ts';
import type { Clock } from '../ports/port.ts';
import { onAbort } from '../runtime/host/waiting.ts';
import type { Succeeded } from '../runtime/command/coordinator.ts';
import type { FleetExecuteOptions, FleetOutcome } from './fleet.ts';
import { announcementMs, type Member, type Members } from './members.ts';

/** What {@link awaitNodes} needs of this node. */
interface AwaitingNode {
  readonly clock: Clock;
  readonly members: Members;
  readonly node: string;
  readonly leaseMs: number;
  /** Aborts when this node closes. */
  readonly closed: AbortSignal;
  /** Whether a node that has read the log up to a position has read the change. */
  readonly hasRead: (position: string) => boolean;
  /** Announces the status of this node, and reads those of the other nodes. Never rejects. */
  readonly announce: () => Promise<void>;
}

/** How long to wait for the other nodes. @internal */
export interface Awaiting {
  /** The longest wait, in milliseconds. */
  readonly waitMs: number;
  /** Ends the wait. */
  readonly signal?: AbortSignal;
}

/** The place of the change of a command in the log; `undefined` if the command has changed nothing there. @internal */
export function positionOf(execution: Succeeded): string | undefined {
  const events = execution.outcome === 'accepted' ? execution.events : [];
  return events.findLast(({ fleet }) => fleet !== undefined)?.fleet?.position;
}

/** Waits until each living node has followed a change, or has said why it cannot, or the time is over. @internal */
export async function awaitNodes(
  execution: Succeeded,
  { waitMs, signal }: Awaiting,
  { clock, closed, announce, ...around }: AwaitingNode,
): Promise<readonly FleetOutcome[]> {
  const links =
    execution.outcome === 'accepted' ? execution.events.map(({ resource }) => resource) : undefined;
  const outcomes = (): readonly FleetOutcome[] =>
    Array.from(around.members.others, ([name, { status }]) =>
      outcomeOf(name, status, around.hasRead(status.position), links),
    );
  const isAwaited = (): boolean =>
    outcomes().some(
      ({ node, outcome }) => outcome === 'waiting' && around.members.countedSilence(node) < around.leaseMs,
    );
  const over = new AbortController();
  const end = (): void => {
    over.abort();
  };
  const stopListening = [closed, ...(signal === undefined ? [] : [signal])].map((each) => {
    if (each.aborted) end();
    return onAbort(each, end);
  });
  const announceAgain = async (): Promise<void> => {
    await announce();
    while (!over.signal.aborted && isAwaited()) {
      await clock.sleep(announcementMs, over.signal);
      await announce();
    }
  };
  // A store that does not answer must not make the wait longer.
  await Promise.race([announceAgain(), clock.sleep(waitMs, over.signal)]);
  end();
  for (const stop of stopListening) stop();
  return Object.freeze([Object.freeze({ node: around.node, outcome: 'applied', behind: [] }), ...outcomes()]);
}

/** How far a node has come with some resources; with all resources if no links are given. */
function outcomeOf(
  node: string,
  status: Member['status'],
  hasRead: boolean,
  links: readonly string[] | undefined,
): FleetOutcome {
  // A node follows all users as one resource, `/users`.
  const behind = status.behind.filter(
    ({ resource }) => links === undefined || links.some((link) => isWithin(link, resource)),
  );
  const isOpen = !hasRead || behind.some(({ code }) => code === undefined);
  if (isOpen) return Object.freeze({ node, outcome: 'waiting', behind: [] });
  return Object.freeze({ node, outcome: behind.length > 0 ? 'behind' : 'applied', behind });
}

/**
 * Checks the options of `execute` that only a node of a fleet has.
 *
 * @throws TypeError, RangeError for a wrong option
 * @internal
 */
export function settleOptions(
  options: FleetExecuteOptions,
): FleetExecuteOptions & { readonly waitMs: number } {
  assertObject(options, 'The options of a command');
  const { settle: wanted, waitMs = 10_000, ...rest } = options;
  if (wanted !== undefined && (wanted as unknown) !== 'fleet')
    throw new TypeError("The option settle must be 'fleet', or left out to wait for this node alone");
  if (!Number.isSafeInteger(waitMs) || waitMs < 0)
    throw new RangeError('The option waitMs must be a whole number of milliseconds, from 0 on');
  return wanted === undefined ? { ...rest, waitMs } : { ...rest, settle: wanted, waitMs };
}
