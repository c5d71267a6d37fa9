/**
 * Later: loads the late part of the page, once the first list is on the screen or when a person needs it.
 */
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import type { Act, changing, creating } from './act.ts';
import { isOld } from './meaning.ts';
import type { Model, Row } from './model.ts';
import { text } from './text.ts';

/** What the late part has. */
export interface Late {
  readonly ActDialog: ComponentType;
  readonly ChosenRows: ComponentType;
  readonly Drawer: ComponentType<{ readonly link: string }>;
  readonly History: ComponentType;
  readonly Keys: ComponentType;
  readonly Live: ComponentType;
  readonly Sessions: ComponentType;
  readonly actOfAlert: (act: NonNullable<Row<'alerts'>['acts']>[number], model: Pick<Model, 'lists'>) => Act;
  readonly changing: typeof changing;
  readonly creating: typeof creating;
  readonly creatingUser: Act;
}

/** The address of the file of the late part. `scripts/console.js` gives its name. */
declare const lateFile: string;

let importLate: () => Promise<Late> = () => Promise.reject(new Error(text.newVersion));
let late: Late | undefined;
let loading: Promise<Late> | undefined;

/** Says how the late part is loaded. */
export function loadsLateBy(how: () => Promise<Late>): void {
  importLate = how;
}

/** Loads the late part, once. */
export async function loadLate(): Promise<Late> {
  loading ??= importLate();
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
