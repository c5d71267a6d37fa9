/**
 * Plans in sentences: what closes, what stays, what changes, what the gateway is asked for.
 */
import type { Plan } from 'gateway-admin-core';
import { changedParts } from 'gateway-admin-core/client';

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

export function sentencesOf(plan: Plan): PlanSentences {
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
      partsIn(event).map((part) => `${event.resource} ${part.slice(1)}`),
    ),
    asks: plan.effects.map(({ type, resource, count }) => text.plan.asks(type, resource, count)),
    notes: notes.filter((note) => !closesLater(note)).map(({ detail }) => detail),
  };
}

/** Whether a note says what a deadline will close. */
export function closesLater({ code, count }: NonNullable<Plan['notes']>[number]): boolean {
  return code === 'closes-at-deadline' && count !== 0;
}

/** The parts that an event changes, with their values before and after. */
export function partsIn(event: object): readonly string[] {
  const { nothing, secret, becomes, sets } = text.plan;
  return changedParts(event, valueText).map(({ path, from, to }) =>
    sets(path, (from ?? to) === undefined ? secret : becomes(from ?? nothing, to ?? nothing)),
  );
}

/** How much an event has closed, and of which kind. */
export function closedText(count: number, criteria?: object): string {
  return `${count.toLocaleString('en')}${criteria === undefined ? '' : `: ${valueText(criteria)}`}`;
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
): readonly { readonly was?: string; readonly is?: string }[] {
  const [old, fresh] = [sentencesOf(before), sentencesOf(now)];
  return planParts.flatMap((part) => {
    const gone = old[part].filter((each) => !fresh[part].includes(each));
    const come = fresh[part].filter((each) => !old[part].includes(each));
    return Array.from({ length: Math.max(gone.length, come.length) }, (_each, at) => ({
      ...(gone[at] === undefined ? {} : { was: gone[at] }),
      ...(come[at] === undefined ? {} : { is: come[at] }),
    }));
  });
}
