/** The messages of PostgreSQL that this gateway knows. */

/** The name of the protocol in a document. */
export const protocol = 'postgresql';

/** The codes of first packets: to cancel a query, and to ask for encryption in one of two ways. */
export const cancelRequest = 80_877_102;
export const encryptionRequests: readonly number[] = [80_877_103, 80_877_104];

/** The message after a complete answer; one byte with the state of the transaction follows. */
const readyForQuery = Buffer.from([0x5a, 0, 0, 0, 5]);
const [ready, error, backendKeyData] = ['Z'.charCodeAt(0), 'E'.charCodeAt(0), 'K'.charCodeAt(0)];
/** The type of a message, and its length. */
export const headBytes = 5;
/** A longer message at the beginning is not of a server that this gateway knows. */
const mostBytes = 65_536;

/** Whether the code of a first packet starts a session: version 3 of the protocol. */
export function isStart(code: number): boolean {
  return code >>> 16 === 3;
}

/** The user that a client names in the packet that starts its session; empty if the client names none. */
export function userIn(packet: Buffer): string {
  // Names and values alternate, and each ends with a zero byte.
  const words = packet.toString('utf8', 8).split('\0');
  const user = words.find((_word, position) => position % 2 === 1 && words[position - 1] === 'user');
  return (user ?? '').replace(/\p{Cc}/gu, '?').slice(0, 255);
}

/**
 * The packet that starts a session, for another user if there is one. Without a database, the packet means the database
 * with the name of its user. This database stays.
 */
export function withUser(packet: Buffer, user = ''): Buffer {
  // As bytes: PostgreSQL knows the encoding of the values only later.
  const words = packet.toString('latin1', 8).split('\0');
  const values = new Map<string, string>();
  for (let at = 0; at + 1 < words.length && words[at] !== ''; at += 2)
    values.set(words[at] ?? '', words[at + 1] ?? '');
  const own = values.get('user');
  if (user === '' || own === undefined) return packet;
  if ((values.get('database') ?? '') === '') values.set('database', own);
  values.set('user', Buffer.from(user).toString('latin1'));
  const text = [...values].map(([name, value]) => `${name}\0${value}\0`).join('');
  const changed = Buffer.concat([packet.subarray(0, 8), Buffer.from(`${text}\0`, 'latin1')]);
  changed.writeInt32BE(changed.length);
  return changed;
}

/**
 * The length of the first message of a server: `undefined` if the head has not come yet; 0 if the beginning is over,
 * because the server is ready for a query, refuses the client, or sends no message that this gateway knows.
 */
export function beginningLength(bytes: Buffer): number | undefined {
  if (bytes.length < headBytes) return undefined;
  const length = bytes.readInt32BE(1) + 1;
  const isOver = length < headBytes || length > mostBytes || bytes[0] === ready || bytes[0] === error;
  return isOver ? 0 : length;
}

/**
 * The key with which a client may cancel a query, in the first messages of a server: what follows the code in the
 * packet that asks for it. `undefined` if the key has not come yet, `none` if no key comes.
 */
export function keyIn(messages: Buffer): Buffer | 'none' | undefined {
  for (let at = 0; ;) {
    const length = beginningLength(messages.subarray(at));
    if (length === 0) return 'none';
    if (length === undefined || at + length > messages.length) return undefined;
    if (messages[at] === backendKeyData) return messages.subarray(at + headBytes, at + length);
    at += length;
  }
}

/** Whether a packet that asks to cancel a query has a key. */
export function hasKey(packet: Buffer, key: Buffer | 'none' | undefined): boolean {
  return Buffer.isBuffer(key) && key.equals(packet.subarray(8));
}

/** Whether a server is ready for a query after these bytes. */
export function endsReady(chunk: Buffer): boolean {
  return chunk.subarray(-6, -1).equals(readyForQuery);
}

/** The message `ParameterStatus` with which a server announces its version. */
export function versionMessage(version: string): Buffer {
  return withLength(Buffer.from(`S\0\0\0\0server_version\0${version}\0`));
}

/** Why a connection ends: too many clients, no server to connect to, a server that is gone, the administrator. */
export type SqlState = '53300' | '57P03' | '08006' | '57P01';

/** An error that ends the connection of a client, with its SQLSTATE and a sentence. */
export function fatalError(sqlState: SqlState, sentence: string): Buffer {
  const fields = ['SFATAL', 'VFATAL', `C${sqlState}`, `M${sentence}`, '']
    .map((field) => `${field}\0`)
    .join('');
  return withLength(Buffer.from(`E\0\0\0\0${fields}`));
}

/** Writes the length of a message after its type. */
function withLength(message: Buffer): Buffer {
  message.writeInt32BE(message.length - 1, 1);
  return message;
}
