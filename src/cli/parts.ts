/**
 * The parts of a gateway that a document describes and the interface shows, and the commands `check` and `export`.
 */
import type { Client, Elements } from '../client/index.ts';
import {
  createSnapshot,
  InvalidDocumentError,
  toDocument,
  type GatewayDocument,
  type Problem,
  type Snapshot,
} from '../index.ts';
import type { Json } from '../json/index.ts';
import { valueOrEnd } from './answer.ts';
import { refused, type Call, type CommandError, type Surroundings } from './command.ts';
import { connect, methodOf } from './connection.ts';
import { readJson } from './input.ts';
import { configured, type Configured } from './kind.ts';
import { counted, safeText } from './output.ts';

/** A resource, as a document or the interface writes it. */
type Resource = Readonly<Record<string, unknown>> & { readonly name: string };

/** The parts, by collection. */
type Parts = Readonly<Record<Configured, readonly Resource[]>>;

/** Reads the state in use. */
async function readParts(client: Client): Promise<Parts> {
  const parts: Record<string, readonly Resource[]> = {};
  for (const collection of configured) {
    const { elements } = valueOrEnd(await methodOf(client, `${collection}.list`)()) as Elements<Resource>;
    const resources: Resource[] = [];
    for (const element of elements) {
      const resource = withoutDrain(element);
      const isService = collection === 'services';
      resources.push(isService ? await withListeners(client, resource) : resource);
    }
    parts[collection] = resources;
  }
  return parts as Parts;
}

async function withListeners(client: Client, service: Resource): Promise<Resource> {
  // A name as a link spells it.
  const name = service.name.replace(/\s/g, '-');
  return { ...service, listeners: valueOrEnd(await client.services.listeners(name)).elements };
}

/** A resource as it will be after its drain: a document that says nothing of a drain does not end it. */
function withoutDrain(resource: Resource): Resource {
  const { drain, ...rest } = resource;
  if (drain === undefined) return resource;
  const { from } = drain as { readonly from?: string };
  return { ...rest, name: resource.name, ...(from === undefined ? {} : { state: from }) };
}

/** The document in a file; `-` is the standard input. The command ends if the text is not JSON. */
export async function documentIn(file: string, surroundings: Surroundings): Promise<Json> {
  const wrong = (problem: Problem): CommandError => refused(`${file}: ${problem.detail}`, problem);
  return readJson(file, surroundings, { depth: 64, wrong });
}

/** The snapshot of the parts; the command ends if a document has faults. */
function snapshotOf(parts: Partial<Parts> | Json): Snapshot {
  try {
    return createSnapshot(parts as GatewayDocument);
  } catch (error) {
    if (!(error instanceof InvalidDocumentError)) throw error;
    const faults = error.faults.map(
      ({ pointer, detail }) => `\n  ${safeText(`${pointer === '' ? 'The document' : pointer} ${detail}`)}`,
    );
    throw refused(`The document has faults:${faults.join('')}`, error.faults);
  }
}

/** Prints how much a document has. A document with faults ends the command with all of them. */
export async function checkDocument({ words: [file = ''], surroundings, output }: Call): Promise<void> {
  const snapshot = snapshotOf(await documentIn(file, surroundings));
  const counts = ([...configured, 'users', 'sessions'] as const).map(
    (name) => [name, snapshot[name].size] as const,
  );
  if (output.isJson) output.json(Object.fromEntries(counts));
  else {
    const parts = counts.map(([name, size]) => counted(size, name.slice(0, -1)));
    output.lines(`${safeText(file)} has no faults: ${parts.join(', ')}.`);
  }
}

/** What belongs to the process, and not to the configuration. */
const ofTheProcess = [
  'started',
  'state_reason',
  'state_since',
  'status_reason',
  'status_since',
  'total_connections',
];

/** Prints the document. */
export async function printDocument(call: Call): Promise<void> {
  const parts = await readParts(await connect(call));
  const document: object = toDocument(snapshotOf(parts));
  const kept = Object.entries(document as Parts)
    .filter(([name]) => configured.some((each) => each === name))
    .map(([name, resources]) => [name, resources.map(configuration)] as const);
  call.output.json(Object.fromEntries(kept));
}

function configuration(resource: Resource): Resource {
  const kept = Object.entries(resource).filter(([name]) => !ofTheProcess.includes(name));
  return Object.fromEntries(kept.map(([name, value]) => [name, wish(name, value)])) as Resource;
}

/** A failed service is wanted, and of the status of a server only maintenance is anybody's wish. */
function wish(name: string, value: unknown): unknown {
  if (name === 'state') return value === 'stopped' ? 'stopped' : 'started';
  return name === 'status' ? (value as readonly string[]).filter((word) => word === 'maintenance') : value;
}
