/**
 * A client that is nothing but a socket.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface SocketClient {
  /** Sends a text or bytes, and gives what comes next. */
  ask(this: void, sent: string | Uint8Array): Promise<string>;
  /** Resolves when the connection is closed, by whichever side. */
  readonly closed: Promise<void>;
  close(this: void): void;
}

/** Connects to a port of 127.0.0.1, or to the path of a socket; rejects when nothing listens there. */
export async function connectSocket(place: number | string): Promise<SocketClient> {
  const socket = typeof place === 'string' ? connect(place) : connect(place, '127.0.0.1');
  await once(socket, 'connect');
  const closed = closing(socket);
  return {
    async ask(sent) {
      socket.write(sent);
      const [answer] = (await Promise.race([once(socket, 'data'), refuse(closed)])) as [Buffer];
      return answer.toString();
    },
    closed,
    close: () => socket.destroy(),
  };
}

/** Whether a port of 127.0.0.1 takes connections. */
export async function isOpen(port: number): Promise<boolean> {
  try {
    const { close } = await connectSocket(port);
    close();
    return true;
  } catch {
    return false;
  }
}

function closing(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.on('error', () => undefined);
    socket.once('close', () => resolve());
    // Until somebody asks, whatever comes is dropped: without a reader the end would not be seen.
    socket.resume();
  });
}

async function refuse(closed: Promise<void>): Promise<never> {
  await closed;
  throw new Error('The connection was closed before an answer came');
}
