/**
 * The mode: whether an interface refuses to change anything.
 */
import type { Acted } from '../../http/route.ts';

/** The mode of an interface. @internal */
export interface Mode {
  /** Whether the interface refuses to change anything. */
  readonly isReadOnly: boolean;
  /** Name of the user who has begun the read-only mode; `undefined` if the program has, or if the user is not known. */
  readonly by: string | undefined;
  /** Begins or ends the read-only mode at once, for the host. */
  set(this: void, readOnly: boolean): void;
  /** Begins or ends the read-only mode, for a client. Rejects with `Overruled` if the client must be checked again. */
  change(this: void, readOnly: boolean, actor?: string): Promise<Acted>;
}

/** The mode of an interface that shares its mode with nobody. @internal */
export function createMode(): Mode {
  let isReadOnly = false;
  let by: string | undefined;
  const set = (readOnly: boolean, actor?: string): void => {
    // A second request for the mode does not make its user the one who has begun it.
    if (readOnly !== isReadOnly) by = readOnly ? actor : undefined;
    isReadOnly = readOnly;
  };
  return {
    get isReadOnly() {
      return isReadOnly;
    },
    get by() {
      return by;
    },
    set,
    change: (readOnly, actor) => {
      set(readOnly, actor);
      return Promise.resolve({ outcome: 'accepted' });
    },
  };
}
