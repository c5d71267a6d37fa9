/**
 * Later: loads the late part of the page, once the first list is on the screen or when a person needs it.
 */
import { useEffect, useState } from 'preact/hooks';

import { isOld } from './meaning.ts';
import { text } from './text.ts';

type Late = typeof import('./late.tsx');

/** The address of the file of the late part. `scripts/console.js` gives its name. */
declare const lateFile: string;

let late: Late | undefined;
let loading: Promise<Late> | undefined;

/** Loads the late part, once. */
export async function loadLate(): Promise<Late> {
  loading ??= import('./late.tsx');
  try {
    return (late = await loading);
  } catch {
    loading = undefined;
    // After an upgrade, the file of this page is gone.
    const { ok } = await fetch(new URL(`?file=${lateFile}`, location.href));
    isOld.set(!ok);
    throw new Error(text.newVersion);
  }
}

/** How long until a loading that failed is tried again, in milliseconds. */
const againMs = 2000;

/** The late part; `undefined` until it is loaded. */
export function useLate(isWanted: boolean): Late | undefined {
  const [loaded, setLoaded] = useState(late);
  useEffect(() => {
    if (!isWanted || loaded !== undefined) return undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const load = (): void =>
      void loadLate().then(setLoaded, () => {
        timer = setTimeout(load, againMs);
      });
    load();
    return () => clearTimeout(timer);
  }, [isWanted, loaded]);
  return loaded;
}
