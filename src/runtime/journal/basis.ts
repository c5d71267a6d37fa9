/**
 * Bases: what a decision rests on, for a journal whose log others append to as well.
 */
import type { AdminEvent } from '../../resources/index.ts';
import type { Execution } from '../command/execution.ts';

/** The link of the read-only mode. @internal */
export const modeLink = '/';

/** What decides whether a caller may change something: the users, and the mode of the interface. @internal */
export const callerLinks: readonly string[] = ['/users', modeLink];

/** What a decision rests on, besides the resources of its record. @internal */
export interface Basis {
  /** The moment of the log at the decision: the number of records that it knows. */
  readonly since: number;
  /** Links of what else was looked at, such as the users among whom the caller is. */
  readonly links: readonly string[];
}

/** A record cannot be stored, because others have changed what it rests on. @internal */
export class Overruled extends Error {
  /**
   * Gives the answer to the command, of which some events have settled. Left out if the command must be decided again.
   */
  readonly answerTo: ((commandId: string, settled: readonly AdminEvent[]) => Execution) | undefined;

  constructor(reason: string, answerTo?: Overruled['answerTo']) {
    super(reason);
    this.name = 'Overruled';
    this.answerTo = answerTo;
  }
}
