/**
 * Notes: what the numbers of a plan do not count.
 */
import * as z from 'zod/mini';

import * as shape from './shape.ts';

/** What a plan does not count, in a sentence. @public */
export interface Note {
  /** Stable slug of the kind of note. Notes of the host begin with `host-`. */
  readonly code: string;
  /** Link of the resource that the note is about. */
  readonly resource?: string;
  /** How many sessions, connections or resources the note is about. */
  readonly count?: number;
  /** The note for a person: one line. */
  readonly detail: string;
}

/** Shape of the notes of a host. @internal */
export const hostNotes = z.array(
  z.object({
    code: z.string().check(z.maxLength(64), z.regex(/^host(?:-[a-z0-9]+)+$/)),
    resource: z.exactOptional(shape.text(4096)),
    count: z.exactOptional(z.int().check(z.minimum(0))),
    detail: shape.text(2048),
  }),
) as unknown as z.ZodMiniType<readonly Note[]>;
