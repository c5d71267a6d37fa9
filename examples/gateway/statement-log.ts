/** The filter `statementlog`: prints the statements of clients that contain the text of its parameter `match`. */
import { linkTo, type Admin, type Filter, type Snapshot } from 'gateway-admin-core';

import { headBytes } from './protocol.ts';

/** The name of the module in a document. */
export const statementLog = 'statementlog';
/** The parameter of the filter. A filter without the parameter prints every statement. */
export const matchParameter = 'match';

/** A longer statement is matched and printed up to this length. */
const mostBytes = 65_536;
const mostPrinted = 500;

const query = 'Q'.charCodeAt(0);
const parse = 'P'.charCodeAt(0);

/**
 * Creates the function that takes the bytes of the client of a session and prints the statements that match, once for
 * each filter of the service. The filters are read at each use. The function takes all bytes of a client, because a
 * filter that the service gets later must know where a message begins.
 */
export function createStatementLog(admin: Admin, service: string, session: number): (chunk: Buffer) => void {
  const read = createStatementReader();
  return (chunk) => {
    for (const statement of read(chunk))
      for (const { name, settings } of filtersOf(admin.snapshot, service)) {
        const { value: match = '' } = settings.parameters[matchParameter] ?? {};
        // This gateway has no secret parameters.
        if (typeof match !== 'string' || !statement.toLowerCase().includes(match.toLowerCase())) continue;
        // A line break or a colour of a client must not look like another line of the log.
        const text = statement
          .replace(/[\p{C}\s]+/gu, ' ')
          .trim()
          .slice(0, mostPrinted);
        console.log(`statement ${linkTo('filters', name)} session ${String(session)}: ${text}`);
      }
  };
}

/** The filters of a service, in the order in which they are applied. */
function filtersOf({ services, filters }: Snapshot, service: string): readonly Filter[] {
  const links = services.find(service)?.settings.filters ?? [];
  return links.flatMap((link) => [...filters].filter(({ name }) => linkTo('filters', name) === link));
}

/**
 * Creates the function that takes the bytes of a client and gives the statements in them. After the start packet, a
 * client sends messages only: a byte for the type, the length of the rest, and the rest. A chunk may end anywhere in a
 * message.
 */
export function createStatementReader(): (chunk: Buffer) => readonly string[] {
  let held = Buffer.alloc(0);
  let [toSkip, isReadable] = [0, true];
  return (chunk) => {
    const statements: string[] = [];
    const skipped = Math.min(toSkip, chunk.length);
    toSkip -= skipped;
    let bytes = Buffer.concat([held, chunk.subarray(skipped)]);
    while (isReadable && bytes.length >= headBytes) {
      const length = bytes.readInt32BE(1) + 1;
      isReadable = length >= headBytes; // Otherwise the client does not speak the protocol any more.
      if (!isReadable) break;
      const hasStatement = bytes[0] === query || bytes[0] === parse;
      if (hasStatement && bytes.length < Math.min(length, mostBytes)) break;
      if (hasStatement) statements.push(statementIn(bytes.subarray(0, Math.min(length, mostBytes))));
      toSkip = Math.max(0, length - bytes.length);
      bytes = bytes.subarray(length);
    }
    held = isReadable ? bytes : Buffer.alloc(0);
    return statements;
  };
}

/**
 * The statement of a message: the first text in `Query`. In `Parse`, the name of the prepared statement comes before.
 */
function statementIn(message: Buffer): string {
  const begin = message[0] === query ? headBytes : message.indexOf(0, headBytes) + 1;
  const end = message.indexOf(0, begin);
  return message.toString('utf8', begin, end < 0 ? message.length : end);
}
