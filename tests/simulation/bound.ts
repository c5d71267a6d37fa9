/**
 * How long a client waits at most: the documented deadlines (docs/limits.md, "Timeouts of clients", and
 * docs/runtime.md, "Close the interface"), added up.
 */
import type { Asked } from './answer.ts';

/** The limits of every life. */
export const limits = {
  effectDeadlineMs: 1000,
  storeDeadlineMs: 2000,
  hashDeadlineMs: 1500,
  auditDeadlineMs: 1500,
  maxQueued: 8,
} as const;

/** A record waits for the call before it and for its own, or for its own and the time until it counts as late. */
const recordMs = 2 * limits.storeDeadlineMs;

/** The time from the turn of a command to its answer. An effect of a refused command may have to be undone. */
export function turnMs(effects: number): number {
  return effects * (2 * 2 * limits.effectDeadlineMs + 2 * recordMs) + recordMs + limits.auditDeadlineMs;
}

/** The time before a command waits for its turn. */
export function firstMs({ asksHostFirst }: Asked): number {
  return asksHostFirst === true ? limits.hashDeadlineMs : 0;
}

/** The time that the end of an interface takes, with so many effects left, and so many commands of unknown outcome. */
export function closeMs(effects: number, unknown: number): number {
  const { effectDeadlineMs, storeDeadlineMs, hashDeadlineMs, auditDeadlineMs } = limits;
  const calls = (2 * 2 * effects + 2 * unknown) * effectDeadlineMs;
  // The disk of a simulation takes its time for each record, too.
  const disk = 100 * (1 + effects + unknown);
  const ends = 2 * storeDeadlineMs + hashDeadlineMs + auditDeadlineMs + 2 * auditDeadlineMs + storeDeadlineMs;
  return calls + disk + ends;
}
