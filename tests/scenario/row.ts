/**
 * Steps by their form, for stages whose steps are few.
 */

/** The form of a step, and what performs it. Gets what the groups of the form have found. */
export type Row<S> = readonly [
  form: RegExp,
  perform: (stage: S, ...found: readonly string[]) => void | Promise<void>,
];

/** Performs a step. The first row whose form fits counts. */
export function performIn<S>(rows: readonly Row<S>[], stage: S, text: string): void | Promise<void> {
  for (const [form, perform] of rows) {
    const found = form.exec(text);
    if (found !== null) return perform(stage, ...found.slice(1));
  }
  throw new Error(`No step is "${text}"`);
}
