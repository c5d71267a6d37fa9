/**
 * The seed: all that is random in a thread follows from it, so that the steps of a link lead to the same world everywhere.
 */
import { createRandom, type Random } from 'gateway-admin-core/testing';

let random: Random | undefined;

/** All that is random in this thread follows from the seed from now on. */
export function seed(number: number): void {
  random = createRandom(number);
  // Ids and revisions are drawn with this function alone.
  crypto.getRandomValues = drawn;
}

function drawn<T extends ArrayBufferView>(array: T): T {
  const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  for (const at of bytes.keys()) bytes[at] = random?.below(256) ?? 0;
  return array;
}
