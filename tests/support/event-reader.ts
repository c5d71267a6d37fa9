/**
 * Readers of events: how they begin, and how an event id is written without its life.
 */

/** An event id of another life. A reader that resumes there gets a gap, and then every event that is kept. */
export const otherLife = '0.0.0';

/** The revision and the index of an event id, without the life, which is another one in each run. */
export function placeOf(id: string): string {
  return id.slice(id.indexOf('.') + 1);
}
