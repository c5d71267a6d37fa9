/**
 * JSON without the revisions at which sessions and connections opened: they belong to one life, and no JSON of a table
 * has them.
 */
export function withoutOpened(sessions: unknown): unknown {
  const text = JSON.stringify(sessions, (name, value: unknown) =>
    name === 'opened' || name === 'renamed' ? undefined : value,
  );
  return JSON.parse(text) as unknown;
}
