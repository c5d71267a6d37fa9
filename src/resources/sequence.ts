/**
 * Sequences: several commands in one request, which are all made, or none. The Gateway Administration REST Interface
 * has no such chapter: the endpoint is an addition. The handler finds the routes of the commands.
 */
import * as z from 'zod/mini';

import * as shape from '../core/shape.ts';
import { endpoint } from '../http/endpoint.ts';
import { plainCommand } from '../http/route.ts';
import type { State } from '../snapshot/state.ts';
import type { Kind } from './shared/kind.ts';

/** The largest number of commands in a sequence. */
const mostCommands = 100;

/** Shape of the body of a sequence. @internal */
export const sequenceShape = z.strictObject({
  commands: z
    .array(
      z.strictObject({
        method: shape.text(16),
        path: shape.text(8192).check(
          z.refine((path) => /^\/[^?#]*$/.test(path), {
            error: 'must be a path without a query, such as /services/Sales',
          }),
        ),
        body: z.exactOptional(z.unknown()),
        if_match: z.exactOptional(shape.text(8192)),
      }),
    )
    .check(z.minLength(1), z.maxLength(mostCommands)),
});

/** A command of a sequence. @internal */
export type SequenceCommand = z.infer<typeof sequenceShape>['commands'][number];

/**
 * The kind "sequence".
 *
 * @see docs/plan-and-undo.md; docs/spec-choices.md 48.
 *
 * @internal
 */
export const sequenceKind: Kind<State, never, never, never> = {
  fields: {},
  events: {},
  effects: {},
  reports: {},
  routes: [
    {
      ...plainCommand,
      ...endpoint('sequence.send'),
      isAddition: true,
      takes: 'sequence',
      role: 'reader',
      summary: 'Makes several commands, or none of them. Each command needs its own role.',
      mediaTypes: ['application/json'],
      bodyShape: sequenceShape,
    },
  ],
};
