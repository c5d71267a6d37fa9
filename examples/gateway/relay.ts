/** The relay: carries and counts bytes between a client and its server, and reads a few messages of PostgreSQL. */
import type { Socket } from 'node:net';

const protocolVersion3 = 196_608;
const encryptionRequests = [80_877_103, 80_877_104];
/** The message of PostgreSQL after a complete answer; one byte with the state of the transaction follows. */
const readyForQuery = Buffer.from([0x5a, 0, 0, 0, 5]);

/** Starts the relay. Bytes of the client that arrive before the server accepts are kept and sent later. */
export function startRelay(client: Socket, backend: Socket) {
  const statistics = { reads: 0, writes: 0, buffered_writes: 0, high_water_events: 0, low_water_events: 0 };
  let lastAt = performance.now();
  let isAtRest = false;

  client.on('data', (chunk) => {
    [lastAt, isAtRest] = [performance.now(), false];
    if (!backend.writable) return client.destroySoon(); // The server has gone, so no answer can come.
    statistics.writes += 1;
    if (backend.writableLength > 0) statistics.buffered_writes += 1;
    if (backend.write(chunk)) return;
    statistics.high_water_events += 1;
    client.pause();
  });
  backend.on('drain', () => {
    statistics.low_water_events += 1;
    client.resume();
  });
  backend.on('data', (chunk: Buffer) => {
    [lastAt, isAtRest] = [performance.now(), chunk.subarray(-6, -1).equals(readyForQuery)];
    statistics.reads += 1;
    if (!client.write(chunk)) backend.pause();
  });
  client.on('drain', () => backend.resume());

  return {
    /** Counted from the side of the server. */
    statistics,
    /** Whole seconds since bytes last came from either side. */
    idleSeconds: () => Math.floor((performance.now() - lastAt) / 1000),
    /** Whether the client waits for no answer: the last message of the server was "ready". */
    isAtRest: () => isAtRest,
  };
}

/** Tells the user that a client names in its first packet. */
export function findUser(client: Socket, tell: (user: string) => void): void {
  client.on('data', function look(packet: Buffer) {
    const code = packet.length < 8 ? 0 : packet.readInt32BE(4);
    if (encryptionRequests.includes(code)) return; // The server refuses encryption, and the client continues without.
    client.off('data', look);
    // Names and values alternate, and each ends with a zero byte.
    const words = code === protocolVersion3 ? packet.toString('utf8', 8).split('\0') : [];
    const value = words.find((_word, position) => position % 2 === 1 && words[position - 1] === 'user');
    if (value !== undefined) tell(value.replace(/\p{Cc}/gu, '?').slice(0, 255));
  });
}
