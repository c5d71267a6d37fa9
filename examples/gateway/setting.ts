/** Settings: whether the present settings have a change. */
import { isDeepStrictEqual } from 'node:util';

import type { ServerSettings } from 'gateway-admin-core';

/** Whether settings have every value that an update has changed. Other values may have changed since. */
export function hasUpdate<T extends object>(
  now: T | undefined,
  { before, after }: { readonly before: T; readonly after: T },
): boolean {
  const names = Object.keys({ ...before, ...after }) as (keyof T)[];
  return names.every(
    (name) => isDeepStrictEqual(before[name], after[name]) || isDeepStrictEqual(now?.[name], after[name]),
  );
}

/** Whether a server has an update. The monitor may have changed the words of the status that the update has left. */
export function hasServerUpdate(
  now: ServerSettings | undefined,
  { before, after }: { readonly before: ServerSettings; readonly after: ServerSettings },
): boolean {
  return (
    now !== undefined && hasUpdate(wordByWord(now), { before: wordByWord(before), after: wordByWord(after) })
  );
}

function wordByWord({ state, ...settings }: ServerSettings): object {
  return { ...settings, ...Object.fromEntries(state.map((word) => [word, true])) };
}
