/**
 * The beginning of a client: its packets before there is a session. A client that sends none, such as a check, has
 * none.
 */
import type { Socket } from 'node:net';

import { cancelRequest, encryptionRequests, isStart, userIn } from './protocol.ts';

/** A client that wants a session. `packet` is the whole packet that says so. */
export interface SessionBeginning {
  readonly type: 'session';
  readonly packet: Buffer;
  readonly user: string;
}

/** What a client has come for: a session, or to cancel the query of one. */
type Beginning = SessionBeginning | { readonly type: 'cancel'; readonly packet: Buffer };

/** The time for a client to begin. */
const patienceMs = 5000;
/** PostgreSQL takes no longer first packet either. */
const mostBytes = 10_000;

/** The first packet in these bytes; empty if there cannot be one, `undefined` if it has not come yet. */
function firstPacket(bytes: Buffer): Buffer | undefined {
  if (bytes.length < 4) return undefined;
  const length = bytes.readInt32BE();
  if (length < 8 || length > mostBytes) return bytes.subarray(0, 0);
  return bytes.length < length ? undefined : bytes.subarray(0, length);
}

function beginningOf(packet: Buffer): Beginning | 'encryption' | 'other' {
  const code = packet.length === 0 ? 0 : packet.readInt32BE(4);
  if (code === cancelRequest) return { type: 'cancel', packet };
  if (isStart(code)) return { type: 'session', packet, user: userIn(packet) };
  return encryptionRequests.includes(code) ? 'encryption' : 'other';
}

/** Reads how a client begins. Closes a client that does not begin in time, or in another protocol: `undefined`. */
export async function readBeginning(client: Socket): Promise<Beginning | undefined> {
  // The end of the gateway does not wait for this client.
  client.unref().on('error', () => undefined);
  const late = setTimeout(() => client.destroy(), patienceMs).unref();
  const beginning = await new Promise<Beginning | undefined>((resolve) => {
    let bytes = Buffer.alloc(0);
    client.once('close', () => resolve(undefined));
    client.on('data', function take(chunk: Buffer) {
      bytes = Buffer.concat([bytes, chunk]);
      for (let packet = firstPacket(bytes); packet !== undefined; packet = firstPacket(bytes)) {
        bytes = bytes.subarray(packet.length);
        const found = beginningOf(packet);
        if (found === 'other') return void client.destroy();
        if (found === 'encryption')
          client.write('N'); // The client continues without.
        else {
          client.off('data', take).pause().unshift(bytes);
          return resolve(found);
        }
      }
    });
  });
  clearTimeout(late);
  client.ref();
  return beginning;
}
