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

/** Others have changed what a record rests on before it was stored: the command is decided again. @internal */
export class Overtaken extends Error {
  constructor() {
    super('Another node was faster');
    this.name = 'Overtaken';
  }
}

/** The command of a record is over: others have ended it, or a set-back of the store has lost it. @internal */
export class Fenced extends Error {
  /** Gives the answer to the command, of which some events have settled. */
  readonly answerTo: (commandId: string, settled: readonly AdminEvent[]) => Execution;

  constructor(answerTo: Fenced['answerTo']) {
    super('Others have ended the command');
    this.name = 'Fenced';
    this.answerTo = answerTo;
  }
}
