/**
 * The subject: the resource that a change is about.
 */
import { kinds } from './kind.ts';
import { counted } from './output.ts';

/** What a change is about. */
export interface Subject {
  /** The name as the user has given it, or several names. */
  readonly name: string;
  /** The arguments of the program that show the present values, such as `show service Sales`. */
  readonly look: string;
}

/** The most names that a sentence has. */
export const mostNamed = 5;

/** The resources of a kind that have these names. */
export function subjectOf(kind: string, ...names: readonly string[]): Subject {
  const [first = '', ...others] = names;
  const isShown = others.length === 0 && kind in kinds && 'item' in kinds[kind as keyof typeof kinds];
  const look = isShown ? `show ${kind} ${wordOf(first)}` : `list ${kind}s`;
  return { name: names.length > mostNamed ? counted(names.length, kind) : names.join(', '), look };
}

/** A listener of a service. */
export function listenerOf(service: string, listener: string): Subject {
  return { name: listener, look: `list listeners ${wordOf(service)}` };
}

/** The resource at a path, such as `/services/Sales/stop`; `undefined` if the program shows no such resource. */
export function subjectAt(path: string): Subject | undefined {
  const [, kind = '', name] = /^\/(service|server|monitor|filter)s?\/([^/]+)/.exec(path) ?? [];
  return name === undefined ? undefined : subjectOf(kind, decodedName(name));
}

/** The name for which a segment of a path stands. */
export function decodedName(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** A text as a shell takes it for one word. */
export function wordOf(text: string): string {
  return /^[\w@%+:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
