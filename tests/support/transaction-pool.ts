/**
 * A pool in front of a PostgreSQL server, in transaction mode, as pgbouncer has it: few connections to the server serve
 * many clients. A client has a connection until the server is outside a transaction again. So the settings of a session
 * reach other clients, or get lost, and a client that listens hears little.
 */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** A connection to the server. */
interface Backend {
  readonly socket: Socket;
  client: Client | undefined;
  isReady: boolean;
}

interface Client {
  readonly socket: Socket;
  /** What the client has sent, and no connection has taken. */
  readonly waiting: Buffer[];
  backend: Backend | undefined;
}

/** The request for TLS, and the request to cancel a statement, in place of the version of the protocol. */
const [tlsRequest, cancelRequest] = [80_877_103, 80_877_102];

/** A pool for clients that all log in as the same role to the same database, without a password. */
export class TransactionPool implements AsyncDisposable {
  readonly port: number;
  readonly #server: Server;
  readonly #to: number;
  readonly #size: number;
  readonly #backends = new Set<Backend>();
  readonly #clients = new Set<Client>();
  #startup: Buffer | undefined;
  /** What the server says after a log-in: each client gets the same. */
  #greeting: Promise<Buffer> | undefined;

  private constructor(server: Server, to: number, size: number) {
    this.#server = server;
    this.#to = to;
    this.#size = size;
    this.port = (server.address() as AddressInfo).port;
    server.on('connection', (socket) => this.#join(socket));
  }

  /**
   * Opens a pool on a free port.
   *
   * @param to - the port of the server
   * @param size - the number of connections to the server
   */
  static async to(to: number, size: number): Promise<TransactionPool> {
    const server = createServer({ noDelay: true }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new TransactionPool(server, to, size);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { socket } of [...this.#clients, ...this.#backends]) socket.destroy();
    await once(this.#server.close(), 'close');
  }

  #join(socket: Socket): void {
    const client: Client = { socket, waiting: [], backend: undefined };
    this.#clients.add(client);
    let isStarted = false;
    const take = (frame: Buffer): void => {
      if (isStarted) return this.#send(client, frame);
      const code = frame.readInt32BE(4);
      if (code === tlsRequest) return void socket.write('N');
      if (code === cancelRequest) return void socket.destroy();
      isStarted = true;
      void this.#greet(client, frame);
    };
    // The first messages of a client have no type in front of the length.
    readFrames(socket, () => (isStarted ? 1 : 0), take);
    whenGone(socket, () => {
      this.#clients.delete(client);
      // The server is in the middle of what the client has asked for.
      client.backend?.socket.destroy();
    });
  }

  async #greet({ socket }: Client, startup: Buffer): Promise<void> {
    this.#startup ??= startup;
    try {
      socket.write(await (this.#greeting ??= this.#open()));
    } catch {
      this.#greeting = undefined;
      socket.destroy();
    }
  }

  #send(client: Client, frame: Buffer): void {
    if (typeOf(frame) === 'X') return void client.socket.destroy();
    client.waiting.push(frame);
    this.#assign();
  }

  /** Gives free connections to the clients that wait, and sends what the clients with a connection have asked for. */
  #assign(): void {
    for (const client of [...this.#clients].filter(({ waiting }) => waiting.length > 0)) {
      const backend =
        client.backend ?? [...this.#backends].find((each) => each.isReady && each.client === undefined);
      if (backend === undefined) {
        this.#grow();
        continue;
      }
      client.backend = backend;
      backend.client = client;
      for (const frame of client.waiting.splice(0)) backend.socket.write(frame);
    }
  }

  #grow(): void {
    if (this.#backends.size >= this.#size) return;
    this.#open().catch(() => {
      for (const { socket, waiting } of this.#clients) if (waiting.length > 0) socket.destroy();
    });
  }

  /** Makes a connection to the server. Resolves with what the server says at the log-in. */
  #open(): Promise<Buffer> {
    const socket = connect({ port: this.#to, host: '127.0.0.1', noDelay: true }, () =>
      socket.write(this.#startup ?? ''),
    );
    const backend: Backend = { socket, client: undefined, isReady: false };
    this.#backends.add(backend);
    const greeting: Buffer[] = [];
    return new Promise((resolve, reject) => {
      readFrames(
        socket,
        () => 1,
        (frame) => {
          if (!backend.isReady) greeting.push(frame);
          backend.client?.socket.write(frame);
          // Outside a transaction.
          if (typeOf(frame) !== 'Z' || frame.toString('latin1', 5, 6) !== 'I') return;
          backend.isReady = true;
          resolve(Buffer.concat(greeting));
          if (backend.client !== undefined) backend.client.backend = undefined;
          backend.client = undefined;
          this.#assign();
        },
      );
      whenGone(socket, () => {
        this.#backends.delete(backend);
        backend.client?.socket.destroy();
        reject(new Error('The server does not answer.'));
      });
    });
  }
}

/** Gives each message to a function: a type of no byte or one byte, the length of the rest, and the rest. */
function readFrames(socket: Socket, typeBytes: () => number, take: (frame: Buffer) => void): void {
  let rest = Buffer.alloc(0);
  socket.on('data', (data: Buffer) => {
    rest = Buffer.concat([rest, data]);
    while (rest.length >= typeBytes() + 4) {
      const length = typeBytes() + rest.readInt32BE(typeBytes());
      if (rest.length < length) return;
      const frame = rest.subarray(0, length);
      rest = rest.subarray(length);
      take(frame);
    }
  });
}

function whenGone(socket: Socket, act: () => void): void {
  socket.on('error', () => socket.destroy()).on('close', act);
}

function typeOf(frame: Buffer): string {
  return frame.toString('latin1', 0, 1);
}
