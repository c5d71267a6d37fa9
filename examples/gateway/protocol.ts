/** The messages of PostgreSQL that this gateway knows. */

const protocolVersion3 = 196_608;
const encryptionRequests = [80_877_103, 80_877_104];
/** The message after a complete answer; one byte with the state of the transaction follows. */
const readyForQuery = Buffer.from([0x5a, 0, 0, 0, 5]);

/** Whether a client asks for encryption. The answer is the letter N, and the client continues without. */
export function isEncryptionRequest(packet: Buffer): boolean {
  return encryptionRequests.includes(codeOf(packet));
}

/** The user that a client names in its first packet; `undefined` if the client names none. */
export function userIn(packet: Buffer): string | undefined {
  // Names and values alternate, and each ends with a zero byte.
  const words = codeOf(packet) === protocolVersion3 ? packet.toString('utf8', 8).split('\0') : [];
  const user = words.find((_word, position) => position % 2 === 1 && words[position - 1] === 'user');
  return user?.replace(/\p{Cc}/gu, '?').slice(0, 255);
}

/** Whether a server is ready for a query after these bytes. */
export function endsReady(chunk: Buffer): boolean {
  return chunk.subarray(-6, -1).equals(readyForQuery);
}

/** An error that ends the connection of a client, with its SQLSTATE and a sentence. */
export function fatalError(sqlState: string, sentence: string): Buffer {
  const fields = ['SFATAL', 'VFATAL', `C${sqlState}`, `M${sentence}`, '']
    .map((field) => `${field}\0`)
    .join('');
  const message = Buffer.from(`E\0\0\0\0${fields}`);
  message.writeInt32BE(message.length - 1, 1);
  return message;
}

/** The code of the first packet of a client. */
function codeOf(packet: Buffer): number {
  return packet.length < 8 ? 0 : packet.readInt32BE(4);
}
