/**
 * `export`: the gateway document that `apply` takes, of a gateway that runs.
 */
import { toDocument } from '../index.ts';
import type { Call } from './command.ts';
import { connect } from './connection.ts';
import { collections, readParts, snapshotOf, type Parts, type Resource } from './parts.ts';

/** What belongs to the process, and not to the configuration. */
const ofTheProcess = ['started', 'state_reason', 'state_since', 'total_connections'];

/** Prints the document. */
export async function printDocument(call: Call): Promise<void> {
  const { parts } = await readParts(await connect(call), () => true);
  const document = toDocument(snapshotOf(parts)) as unknown as Parts;
  const configured = collections.map((name) => [name, document[name].map(configuration)] as const);
  call.output.json(Object.fromEntries(configured));
}

function configuration(resource: Resource): Resource {
  const kept = Object.entries(resource).filter(([name]) => !ofTheProcess.includes(name));
  return Object.fromEntries(kept.map(([name, value]) => [name, configured(name, value)])) as Resource;
}

/** A failed service is wanted, and of the status of a server only maintenance is anybody's wish. */
function configured(name: string, value: unknown): unknown {
  if (name === 'state') return value === 'stopped' ? 'stopped' : 'started';
  return name === 'status' ? (value as readonly string[]).filter((word) => word === 'maintenance') : value;
}
