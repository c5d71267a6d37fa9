/**
 * `check`: the faults of a gateway document, without a gateway.
 */
import type { Call } from './command.ts';
import { counted, safeText } from './output.ts';
import { documentIn, snapshotOf } from './parts.ts';

/** Prints how much a document has. A document with faults ends the command with all of them. */
export async function checkDocument({ words: [file = ''], surroundings, output }: Call): Promise<void> {
  const { servers, services, monitors, filters, users, sessions } = snapshotOf(
    await documentIn(file, surroundings),
  );
  const collections = { servers, services, monitors, filters, users, sessions };
  const counts = Object.entries(collections).map(([name, { size }]) => [name, size] as const);
  if (output.isJson) output.json(Object.fromEntries(counts));
  else {
    const parts = counts.map(([name, size]) => counted(size, name.slice(0, -1)));
    output.lines(`${safeText(file)} has no faults: ${parts.join(', ')}.`);
  }
}
