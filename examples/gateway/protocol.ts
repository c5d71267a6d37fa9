/** The messages of PostgreSQL that this gateway knows. */

/** The name of the protocol in a document. */
export const protocol = 'postgresql';

/** The codes of first packets: to cancel a query, and to ask for encryption in one of two ways. */
export const cancelRequest = 80_877_102;
export const encryptionRequests: readonly number[] = [80_877_103, 80_877_104];

/** The message after a complete answer; one byte with the state of the transaction follows. */
const readyForQuery = Buffer.from([0x5a, 0, 0, 0, 5]);
const backendKeyData = 'K'.charCodeAt(0);

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
 * The packet that starts a session, for another user if there is one. Without a database, the packet means the database with
 * the name of its user. This database stays.
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
 * The key with which a client may cancel a query, in the first messages of a server: what follows the code in the packet
 * that asks for it. `undefined` if the key has not come yet.
 */
export function keyIn(messages: Buffer): Buffer | undefined {
  for (let at = 0; at + 5 <= messages.length;) {
    const end = at + 1 + Math.max(4, messages.readInt32BE(at + 1));
    if (messages[at] === backendKeyData && end <= messages.length) return messages.subarray(at + 5, end);
    at = end;
  }
  return undefined;
}

/** Whether a packet that asks to cancel a query has a key. */
export function hasKey(packet: Buffer, key: Buffer | undefined): boolean {
  return key?.equals(packet.subarray(8)) === true;
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
