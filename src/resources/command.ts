/**
 * Commands: the commands in flight, and the event of a command that had an unknown outcome and then turned out to have
 * failed. The Gateway Administration REST Interface has no such chapter: both endpoints are additions.
 */
import * as z from 'zod/mini';

import type { EventHead } from '../core/decision.ts';
import { defineFields, representFields } from '../core/field.ts';
import * as shape from '../core/shape.ts';
import { endpoint } from '../http/endpoint.ts';
import type { NotDone } from '../http/route.ts';
import { fail, ok, problem, type Problem, type ProblemCode, type Result } from '../problem.ts';
import type { State } from '../snapshot/state.ts';
import type { Kind } from './shared/kind.ts';
import { actionRoute, listingOf, listRoute } from './shared/route.ts';

/**
 * A command in flight: the time from its turn to its settlement.
 *
 * @see docs/spec-choices.md 40.
 *
 * @public
 */
export interface CommandInFlight {
  /** Id of the command. The events of the command have the same id. */
  readonly id: string;
  /** Type of the first event of the command, such as `service.stopped`. */
  readonly type: string;
  /** Link of the resource that the command changes. */
  readonly resource: string;
  /** Links of the resources that no other command may use meanwhile. */
  readonly resources: readonly string[];
  /** Name of the principal who sent the command; left out if the caller is not known. */
  readonly actor?: string;
  /** The time of the turn, in milliseconds since 1970-01-01T00:00:00Z. */
  readonly since: number;
  /**
   * `pending`: the caller waits for the outcome. `unknown`: the gateway or the store did not answer in time, and the
   * caller was told that the outcome is unknown. Only an `unknown` command can be abandoned.
   */
  readonly outcome: 'pending' | 'unknown';
  /** How many of its parts are settled, such as batches of sessions to close; left out for a command of one part. */
  readonly progress?: { readonly done: number; readonly of: number };
}

/**
 * A command in flight in a response.
 *
 * @public
 */
export interface CommandRepresentation extends Omit<CommandInFlight, 'since'> {
  /** The time of the turn, such as `2016-08-29T12:52:31+03:00`. */
  readonly since: string;
}

/** The commands in flight of a running interface. @internal */
export interface CommandTable {
  /** The commands in flight, in the order of their turns. */
  list(this: void): readonly CommandInFlight[];
  /** Abandons a command. Refused if {@link objectionTo} objects, or if the store does not answer. */
  abandon(this: void, id: string): Promise<NotDone | undefined>;
  /** Where the gateway may not be as the interface shows it, after abandoned commands and calls that ended too late. */
  behind(this: void): readonly Behind[];
}

/** A resource at which the gateway is behind what the interface shows. @internal */
export interface Behind {
  /** Link of the resource. */
  readonly resource: string;
  /** Why the gateway has not followed; left out while it is asked for the first time. */
  readonly problem?: Problem;
  /** Since when, in milliseconds since 1970-01-01T00:00:00Z. */
  readonly since: number;
}

/**
 * The event of a command whose outcome was unknown, and which has failed. `reason` names the changes that stand. A
 * command that turns out to have succeeded publishes its own events instead. Both kinds of events carry the id of the
 * command.
 *
 * @internal
 */
export type CommandEvent = EventHead<'command.failed'> & {
  /** Why the command failed, for a person. */
  readonly reason: string;
};

const fields = defineFields<{
  representation: CommandRepresentation;
  document: CommandRepresentation;
  state: CommandInFlight;
}>()({
  id: { shape: shape.text(255) },
  type: { shape: shape.text(255) },
  resource: { shape: shape.text(4096) },
  resources: { shape: z.array(shape.text(4096)) },
  actor: { shape: shape.text(255), optional: true },
  since: { shape: shape.instant, time: 'iso8601' },
  outcome: { shape: z.enum(['pending', 'unknown']) },
  progress: { shape: z.strictObject({ done: shape.count, of: shape.count }), optional: true },
});

/** Finds a command in flight. Refused with `command-not-found` if there is none with this id. @internal */
export function findCommand(commands: readonly CommandInFlight[], id: string): Result<CommandInFlight> {
  const found = commands.find((command) => command.id === id);
  return found === undefined ? fail('command-not-found', notFound) : ok(found);
}

const notFound =
  'No command with this id is in flight. The command may have ended: an event with its id says so. GET /commands lists ' +
  'the commands in flight.';

/** Why a command cannot be abandoned now; `undefined` if the command can be abandoned. @internal */
export function objectionTo({ id, outcome }: CommandInFlight): Problem<ProblemCode> | undefined {
  if (outcome === 'unknown') return undefined;
  const detail =
    `The outcome of the command ${id} is still awaited. A command can be abandoned only once its outcome is unknown. ` +
    'Wait for the answer of the command.';
  return Object.freeze({ ...problem('command-not-abandonable', detail), command: id });
}

/** The kind "command". @internal */
export const commandKind: Kind<State, CommandEvent, never, never> = {
  fields: { command: fields },
  events: {
    'command.failed': {
      scope: 'node',
      revert: 'irreversible',
      evolve: (snapshot) => snapshot,
    },
  },
  effects: {},
  reports: {},
  routes: [
    listRoute({
      ...endpoint('commands.list'),
      isAddition: true,
      role: 'reader',
      query: ['fields', 'range'],
      summary: 'Lists the commands in flight.',
      shape: fields.representation,
      find: () => ok(undefined),
      list: (_snapshot, _none, { commands, times }) =>
        listingOf(commands.list(), (command) => representFields(fields, { rest: command, times })),
    }),
    actionRoute<CommandInFlight>({
      ...endpoint('commands.abandon'),
      isAddition: true,
      role: 'administrator',
      summary: 'Abandons a command of unknown outcome: its resources are free again.',
      findIn: ({ commands }, { id = '' }) => findCommand(commands.list(), id),
      judge(_surroundings, command) {
        const problem = objectionTo(command);
        return problem === undefined ? ok('accepted') : { ok: false, problem };
      },
      act: ({ commands }, { id }) => commands.abandon(id),
    }),
  ],
};
