/**
 * The one packet of the PostgreSQL protocol that the gateway reads: the first, in which a client says who it is.
 */
import type { Socket } from 'node:net';

const protocolVersion3 = 196_608;
const encryptionRequests = [80_877_103, 80_877_104];

/** Tells the user that a client names, once it does. */
export function findUser(client: Socket, tell: (user: string) => void): void {
  client.on('data', function look(packet: Buffer) {
    const code = packet.length < 8 ? 0 : packet.readInt32BE(4);
    if (encryptionRequests.includes(code)) return; // The server says no, and the client goes on.
    client.off('data', look);
    // Names and values in turn, each of them ended by a zero byte.
    const words = code === protocolVersion3 ? packet.toString('utf8', 8).split('\0') : [];
    const value = words.find((_word, position) => position % 2 === 1 && words[position - 1] === 'user');
    if (value !== undefined) tell(value.replace(/\p{Cc}/gu, '?').slice(0, 255));
  });
}
