/**
 * Documents: makes the command that takes over a gateway document. A large document is read in pieces, before the
 * command has its turn.
 */
import { refusedFor } from '../../core/decision.ts';
import { sealEntry } from '../../core/seal.ts';
import type { SecretPorts } from '../../core/secret.ts';
import type { Route, SearchValues, WholeRoute } from '../../http/route.ts';
import { isArray, isObject, sizeOf, type Json } from '../../json/value.ts';
import { nextTurn } from '../../ports/system-clock.ts';
import { faultsOf, ok, problemOf, type Fault, type Result } from '../../problem.ts';
import {
  adoptPartial,
  comparedIn,
  comparesParts,
  mostFaults,
  readPartial,
  type Extent,
} from '../../resources/partial-document.ts';
import { beginPiece, inPieces } from '../host/waiting.ts';
import type { Running } from '../running.ts';
import type { Arrival } from './arrival.ts';
import type { AskedCommand, CommandRoute } from './write.ts';

/** Makes the route that takes the document of a request over as one command. @internal */
export function documentRoute(route: WholeRoute, _arrival: Arrival<Route>, running: Running): CommandRoute {
  return {
    ...route,
    find: () => ok(undefined),
    link: () => route.path,
    command: (_parameters, body, secrets, _surroundings, values) =>
      changeOf(body, secrets, extentOf(values), running),
  };
}

/** The values were checked when the query was parsed. */
function extentOf({ prune, only, allow_empty: allowEmpty }: Partial<SearchValues>): Extent {
  return { prune: prune === 'true', allowEmpty: allowEmpty === 'true', only: only?.split(',') };
}

async function changeOf(
  body: Json,
  secrets: SecretPorts,
  extent: Extent,
  { writer }: Running,
): Promise<Result<AskedCommand>> {
  const sealed = await sealDocument(body, secrets, extent);
  if (!sealed.ok) return sealed;
  const { document, faults } = sealed.value;
  const read = await inPieces(readPartial(document, extent, writer.snapshot));
  // No fault hides another one.
  if (!read.ok) return { ok: false, problem: problemOf([...faultsOf(read.problem), ...faults]) };
  return ok({
    decide: (snapshot, _none, context) =>
      refusedFor(faults, snapshot, adoptPartial(snapshot, read.value, context, extent)),
    // Only the plan of a document says what the document changes: to digest a large one takes long.
    asked: extent,
  });
}

/** The largest entry of a document, in characters of JSON: as the body of a creation, by default. */
const mostOfEntry = 1_048_576;

/** Seals the secrets in the lists that are compared. Ends with the first entry that is too large. */
async function sealDocument(
  body: Json,
  secrets: SecretPorts,
  extent: Extent,
): Promise<Result<{ readonly document: Json; readonly faults: readonly Fault[] }>> {
  if (!isObject(body)) return ok({ document: body, faults: [] });
  if (Object.keys(body).length > mostDocumentMembers) return { ok: false, problem: problemOf([tooMany]) };
  const document = new Map(Object.entries(body));
  const faults: Fault[] = [];
  let isOver = beginPiece();
  const hasParts = comparesParts(extent);
  for (const { collection, fields } of comparedIn(extent)) {
    const all = fields.all.filter(({ entries }) => hasParts || entries === undefined);
    const list = document.get(collection);
    if (list === undefined || !isArray(list)) continue;
    const entries: Json[] = [];
    for (const [at, entry] of list.entries()) {
      const place = `/${collection}/${String(at)}`;
      if (sizeOf(entry, mostOfEntry) > mostOfEntry)
        return { ok: false, problem: problemOf([tooLarge(place)]) };
      const { sealed, faults: own } = await sealEntry({ all }, entry, secrets);
      entries.push(sealed);
      for (const fault of own) faults.push({ ...fault, pointer: `${place}${fault.pointer}` });
      if (faults.length >= mostFaults) return { ok: false, problem: problemOf(faults) };
      if (!isOver()) continue;
      await nextTurn();
      isOver = beginPiece();
    }
    document.set(collection, entries);
  }
  return ok({ document: Object.fromEntries(document), faults });
}

/** The largest number of members of a document. */
const mostDocumentMembers = 100;

const tooMany: Fault = {
  pointer: '',
  code: 'validation-failed',
  detail: `must have at most ${String(mostDocumentMembers)} members`,
};

function tooLarge(pointer: string): Fault {
  const detail = `must have at most ${String(mostOfEntry)} characters of JSON`;
  return { pointer, code: 'validation-failed', detail };
}
