/**
 * Plans in sentences: what closes, what stays, what changes, what the gateway is asked for.
 */
import type { Plan } from 'gateway-admin-core';
import { changedParts, sentencesOf, textOf, type Told } from 'gateway-admin-core/client';

import { nameInLink } from './link.ts';
import { text } from './text.ts';
import { whenText } from './time.ts';

/** What a plan says, by weight: what cannot be taken back first. */
export interface PlanSentences {
  readonly closes: readonly string[];
  readonly stays: readonly string[];
  readonly changes: readonly string[];
  readonly asks: readonly string[];
  readonly notes: readonly string[];
}

/** The parts of a plan, in the order in which they are shown. */
export const planParts = ['closes', 'stays', 'notes', 'changes', 'asks'] as const;

export function partsOf(plan: Plan, nameOf = nameInLink): PlanSentences {
  const { closes, stays, notes = [] } = plan;
  // What closes later closes as well.
  const later = notes.filter(closesLater).map(({ detail }) => detail);
  const isNothing = closes.sessions + closes.connections === 0;
  // A note about these sessions says more than their number.
  const isNoted = later.length > 0 || notes.some(({ code }) => code === 'sessions-lose-connection');
  return {
    closes: [
      ...(isNothing && later.length > 0 ? [] : [text.plan.closes(closes.sessions, closes.connections)]),
      ...later,
    ],
    stays: stays.sessions === 0 || isNoted ? [] : [text.plan.stays(stays.sessions)],
    changes: plan.events.flatMap((event) =>
      partsIn(event, nameOf).map((part) => `${nameOf(event.resource)}: ${part}`),
    ),
    asks: sentencesOf(plan.effects as readonly Told[], { tense: 'do', nameOf }).map(textOf),
    notes: notes.filter((note) => !closesLater(note)).map(({ detail }) => detail),
  };
}

/** Whether a note says what a deadline will close. */
export function closesLater({ code, count }: NonNullable<Plan['notes']>[number]): boolean {
  return code === 'closes-at-deadline' && count !== 0;
}

/** A part that an event changes, in words. */
export interface Change {
  readonly name: string;
  /** The values before and after; left out of a secret, and of what the name says alone. */
  readonly from?: string;
  readonly to?: string;
}

/** What the sentence about an event says already. */
const said = /^\/(?:drain|read_only|status\/maintenance)/;

/** What an event changes, part by part. */
export function changesIn(event: object, nameOf = nameInLink): readonly Change[] {
  const { to = {} } = event as { readonly to?: Readonly<Record<string, unknown>> };
  // What is new has a name.
  if (to['name'] !== undefined)
    return [{ name: definitionText(to, nameOf) }].filter(({ name }) => name !== '');
  const { drain } = to as { readonly drain?: { readonly until?: string; readonly then?: string } };
  const { nothing, secret, listed, until } = text.plan;
  const deadline =
    drain === undefined
      ? []
      : [{ name: until(drain.until && whenText(Date.parse(drain.until)), drain.then) }];
  const parts = changedParts(event, valueText).filter(({ path }) => !said.test(path));
  return [
    ...deadline,
    ...parts.map(({ op, path, from, to: now, isListed }): Change => {
      if (isListed === true)
        return { name: listed(op, path.startsWith('/status/') ? path.slice(8) : nameOf(path)) };
      const name = path.slice(1);
      return (from ?? now) === undefined
        ? { name: `${name}: ${secret}` }
        : { name, from: from ?? nothing, to: now ?? nothing };
    }),
  ];
}

/** What is new of a resource that was added. */
function definitionText(to: Readonly<Record<string, unknown>>, nameOf: (link: string) => string): string {
  const { router, module, protocol, address, port, servers } = to as Readonly<
    Record<string, string | undefined>
  >;
  const links = (servers ?? []) as readonly string[];
  const place = address === undefined ? undefined : `${address}${port === undefined ? '' : `:${port}`}`;
  return [router ?? module ?? protocol, place, links.map(nameOf).join(', ')].filter(Boolean).join(', ');
}

/** The parts that an event changes, each as a text. */
export function partsIn(event: object, nameOf = nameInLink): readonly string[] {
  return changesIn(event, nameOf).map(({ name, from, to }) =>
    from === undefined || to === undefined ? name : text.plan.sets(name, text.plan.becomes(from, to)),
  );
}

/** A time of the interface with its time zone. */
const isInstant = /^(?:\d{4}-\d\d-\d\dT|\w{3}, \d\d \w{3} \d{4} )\d\d:\d\d:\d\d ?[+-Z]/;

export function valueText(value: unknown): string {
  if (value === undefined || value === null || value === '') return text.plan.nothing;
  if (Array.isArray(value)) return value.length === 0 ? text.plan.nothing : value.map(valueText).join(', ');
  if (typeof value === 'string') return isInstant.test(value) ? whenText(Date.parse(value)) : value;
  if (typeof value !== 'object') return JSON.stringify(value);
  const members = Object.entries(value).map(([name, each]) => `${name} ${valueText(each)}`);
  return members.length === 0 ? text.plan.nothing : members.join(', ');
}

/** What is different in the plan of now; each sentence that is gone, and each that is new. */
export function differenceOf(
  before: Plan,
  now: Plan,
  nameOf = nameInLink,
): readonly { readonly was?: string; readonly is?: string }[] {
  const [old, fresh] = [partsOf(before, nameOf), partsOf(now, nameOf)];
  return planParts.flatMap((part) => {
    const gone = old[part].filter((each) => !fresh[part].includes(each));
    const come = fresh[part].filter((each) => !old[part].includes(each));
    return Array.from({ length: Math.max(gone.length, come.length) }, (_each, at) => ({
      ...(gone[at] === undefined ? {} : { was: gone[at] }),
      ...(come[at] === undefined ? {} : { is: come[at] }),
    }));
  });
}
