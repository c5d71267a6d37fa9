/**
 * Marks: bind a command to the plan that was shown. The same command with the mark of its plan does what the plan
 * showed, or is refused.
 *
 * A mark binds the resources by their births, not by their names; the members of settings that change; that a secret
 * is set; and where sessions or connections close. It does not list what closes: on a busy service the list differs at
 * each moment, and no such plan could be carried out. Instead, the mark has an instant, and what has opened after that
 * instant stays open.
 */
import { pruned } from '../../core/change.ts';
import { canonicalText, sha256 } from '../../core/digest.ts';
import type { EventsAndEffects } from '../../core/decision.ts';
import { linkKey } from '../../core/link.ts';
import { isTextList } from '../../core/reference.ts';
import { isObject, pick, type Json, type JsonObject } from '../../json/value.ts';
import { closings, fieldsOf, type AdminEvent, type Effect } from '../../resources/index.ts';
import { maskSecrets } from '../../core/secret.ts';
import type { Snapshot } from '../../resources/snapshot.ts';

/** A parsed mark. @internal */
export interface Mark {
  /** The digits of what was asked for. */
  readonly command: string;
  /** The digits of what the plan showed: half of them of what it closed, and half of everything else. */
  readonly digest: string;
  /** When the plan was made; left out if the plan closed nothing. */
  readonly instant?: Instant;
}

/** The instant of a plan that closes sessions or connections. @internal */
export interface Instant {
  /** The life of the interface; see `drawLife`. */
  readonly life: string;
  /** The revision of the snapshot. */
  readonly revision: number;
  /** The number of sessions or connections that the plan closed. */
  readonly items: number;
  /** The time of the plan, in milliseconds since 1970-01-01T00:00:00Z. */
  readonly at: number;
}

/** What a mark says besides the decision. @internal */
export interface MarkScope {
  /** The digits of what is asked for. */
  readonly command: string;
  /** The life of the interface. */
  readonly life: string;
  /** The snapshot on which the decision was made. */
  readonly snapshot: Snapshot;
}

/** What a decision changes, and the resources that it rests on. */
type Changes = EventsAndEffects<AdminEvent, Effect> & { readonly resources: readonly string[] };

/**
 * Explains why a decision is not what the plan of a mark showed.
 *
 * A command that changes nothing does nothing that a plan did not show, so it may be sent again after a lost answer. So
 * does a closing of which nothing is left.
 *
 * @param decision - the accepted decision; `undefined` if nothing changes
 * @returns a sentence; `undefined` if the decision fits
 * @internal
 */
export function misfitOf(
  mark: Mark,
  decision: Changes | undefined,
  { command, life, snapshot }: MarkScope,
): string | undefined {
  if (mark.command !== command) return foreign;
  if (decision === undefined) return undefined;
  const { instant } = mark;
  const closed =
    instant === undefined ? '' : ` The plan closed ${String(instant.items)} sessions or connections.`;
  if (instant !== undefined && instant.life !== life) return `${ofAnotherLife}${closed}`;
  if (instant !== undefined && instant.revision > snapshot.revision) return 'No plan has this mark yet.';
  const now = digestOf(decision, snapshot);
  const isShown = closes(decision)
    ? now === mark.digest && instant !== undefined
    : now.slice(0, half) === mark.digest.slice(0, half);
  return isShown ? undefined : `${changedSince}${closed}`;
}

const ofAnotherLife = 'The plan was made before the last start of the interface, or by another node.';

const foreign = 'The mark is that of another command.';

const changedSince = 'What the command does has changed since the plan was made.';

/** The digits of a command that a program in the process makes. @internal */
export const ownCommand = '00000000';

/** Gives the digits of what is asked for. @internal */
export function commandDigits(asked: Json): string {
  return sha256(maskedText(asked)).slice(0, 8);
}

/** Writes a mark. @internal */
export function formatMark({ command, digest, instant }: Mark): string {
  const bound = instant === undefined ? [] : [instant.life, instant.revision, instant.items, instant.at];
  return [command, digest, ...bound].join('.');
}

const form = /^([0-9a-f]{8})\.([0-9a-f]{32})(?:\.([0-9a-f]{1,64})\.(\d{1,16})\.(\d{1,16})\.(-?\d{1,16}))?$/;

/** Parses a mark; `undefined` if a text is not a mark. @internal */
export function parseMark(text: string): Mark | undefined {
  const [, command, digest, life, revision, items, at] = form.exec(text) ?? [];
  if (command === undefined || digest === undefined) return undefined;
  if (life === undefined) return { command, digest };
  const instant = { life, revision: Number(revision), items: Number(items), at: Number(at) };
  return { command, digest, instant };
}

/**
 * Makes the mark of a plan.
 *
 * @internal
 */
export function markOf(changes: Changes, snapshot: Snapshot, command: string, instant: Instant): Mark {
  const mark = { command, digest: digestOf(changes, snapshot) };
  return closes(changes) ? { ...mark, instant } : mark;
}

/**
 * Checks that a decision of the host closes nothing that has opened since its plan. A decision of this library is bound
 * by the context.
 *
 * @throws TypeError if the transition has not passed its context on
 * @internal
 */
export function assertCovered(
  decision: EventsAndEffects<AdminEvent, Effect>,
  { sessions }: Snapshot,
  openedUpTo: number,
): void {
  const { events, closing } = decision;
  const isLater = (opened: number | undefined): boolean => opened !== undefined && opened > openedUpTo;
  const isUnbound = closing !== undefined && (closing.openedUpTo ?? Infinity) > openedUpTo;
  const strays = events.some((event) => {
    if (event.type === 'sessions.closed')
      return event.sessions.some(({ id }) => isLater(sessions.find(id)?.opened));
    if (event.type !== 'connections.closed') return false;
    return event.connections.some(({ session, id }) =>
      isLater(sessions.find(session)?.connections.find((each) => each.id === id)?.opened),
    );
  });
  if (isUnbound || strays)
    throw new TypeError(
      'A command with a mark would close what has opened since its plan: the transition must pass its context on',
    );
}

/** The text of a value with masked secrets: that a secret is set counts, and not its value. */
function maskedText(value: Json): string {
  return canonicalText(maskSecrets(value));
}

/** The number of digits of each half of a digest. */
const half = 16;

/** Gives the digits of what a plan shows, and of which resources: a later one can be called the same and be equal. */
function digestOf({ events, closing: closed, resources }: Changes, { births }: Snapshot): string {
  const head = closed && closings[closed.what].headOf(closed);
  const all = [...events, ...(head === undefined ? [] : [head])];
  const changing = all.filter((each) => !isClosing(each));
  const closing = all.filter(isClosing);
  const halves = [
    [bornIn(births, [...resources, ...linksOf(changing)]), ...changing.map(shown)],
    // What closes can end by itself: then its birth does not count either.
    [bornIn(births, linksOf(closing)), ...closing.map(shown)],
  ];
  return halves.map((each) => sha256(maskedText(each)).slice(0, half)).join('');
}

function linksOf(changes: readonly { readonly resource: string }[]): readonly string[] {
  return changes.map(({ resource }) => resource);
}

function bornIn(births: Snapshot['births'], links: readonly string[]): JsonObject {
  return Object.fromEntries(
    links.flatMap((link) => {
      const birth = births.of(link);
      return birth === undefined ? [] : [[linkKey(link), birth]];
    }),
  );
}

/** Whether a decision closes anything. */
function closes({ effects, closing }: EventsAndEffects<AdminEvent, Effect>): boolean {
  return closing !== undefined || effects.some(isClosing);
}

function isClosing(change: object): boolean {
  return 'sessions' in change || 'connections' in change;
}

/** The members that differ from plan to plan, or that follow from other members. */
const unbound: ReadonlySet<string> = new Set([
  'at',
  'actor',
  'undoes',
  'command',
  'fleet',
  'sessions',
  'connections',
  'operations',
]);

/**
 * What a plan shows of an event: of an update the parts that differ, both before and after. Of a secret, only that it
 * differs counts: the text of the mark masks it.
 */
function shown(event: AdminEvent): JsonObject {
  const { from, to, ...head } = event as unknown as JsonObject;
  const fields = fieldsOf(event);
  const change = { link: event.resource, ...bound('from', from, to), ...bound('to', to, from) };
  return {
    ...pick(head, (name) => !unbound.has(name)),
    change: fields === undefined ? change : { ...pruned(fields, change) },
  };
}

/**
 * One side of a change as the mark binds it. The plan shows how long a drain takes, and what changes of a drain: the
 * instants move with the time. Of a status, the words that go or come count: a monitor may find others meanwhile.
 */
function bound(side: 'from' | 'to', members: Json = null, others: Json = null): JsonObject {
  if (!isObject(members)) return {};
  const { drain, status, ...rest } = members;
  const { since: _since, until: _until, by: _by, ...asked } = (drain ?? {}) as JsonObject;
  const { status: kept } = (others ?? {}) as JsonObject;
  const isMoved = (word: Json): boolean => !isTextList(kept) || !(kept as readonly Json[]).includes(word);
  return {
    [side]: {
      ...rest,
      ...Object.fromEntries(Object.entries(asked).map(([name, value]) => [`drain ${name}`, value])),
      ...(drain !== undefined && { drain: true }),
      ...(isTextList(status) && { status: status.filter(isMoved) }),
    },
  };
}
