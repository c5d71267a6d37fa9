/**
 * The setting `version_string`: the version that a client sees when it connects. `SHOW server_version` shows the real
 * one.
 */
import { beginningLength, versionMessage } from './protocol.ts';

/** The type of the message, its length, and the name of the parameter. The version follows. */
const versionHead = /^S[^]{4}server_version\0/;

/**
 * Creates the function that takes the bytes of a server and gives those for the client. A server announces its version
 * once, before it is ready for the first query or refuses the client. The function does not change the bytes after
 * that.
 */
export function createVersionWriter(version: string | undefined): (chunk: Buffer) => Buffer {
  if (version === undefined || version === '') return (chunk) => chunk;
  let [held, isBeginning] = [Buffer.alloc(0), true];
  return (chunk) => {
    if (!isBeginning) return chunk;
    const messages: Buffer[] = [];
    let bytes = Buffer.concat([held, chunk]);
    for (;;) {
      const length = beginningLength(bytes);
      isBeginning = length !== 0;
      if (!isBeginning) return Buffer.concat([...messages, bytes]);
      if (length === undefined || bytes.length < length) break;
      const isVersion = versionHead.test(bytes.toString('latin1', 0, length));
      messages.push(isVersion ? versionMessage(version) : bytes.subarray(0, length));
      bytes = bytes.subarray(length);
    }
    held = bytes;
    return Buffer.concat(messages);
  };
}
