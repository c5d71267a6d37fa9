/**
 * A wire to a server of this machine that breaks when a test says so.
 */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

export class BreakingWire {
  readonly port: number;
  /** The number of connections that were made to the wire. */
  connections = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #next: 'request' | 'answer' | undefined;
  /** The request whose answer is lost. */
  #cut: { readonly text: string; readonly lost: () => void } | undefined;
  #isDown = false;

  private constructor(server: Server, to: number) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    server.on('connection', (client) => this.#join(client, connect(to, '127.0.0.1')));
  }

  static async to(port: number): Promise<BreakingWire> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new BreakingWire(server, port);
  }

  /** Loses the next request, or carries the next request and loses its answer. The connection breaks. */
  breakNext(what: 'request' | 'answer'): void {
    this.#next = what;
  }

  /**
   * Carries the next request that contains a text, and loses its answer. The connection breaks, and nobody can connect
   * until `mend`. Resolves when the answer is lost.
   */
  cutAnswerTo(text: string): Promise<void> {
    return new Promise((lost) => (this.#cut = { text, lost }));
  }

  /** Lets clients connect again. */
  mend(): void {
    this.#cut = undefined;
    this.#isDown = false;
  }

  /** Carries nothing any more on the connections that there are, and keeps them open. */
  silence(): void {
    for (const socket of this.#sockets) socket.removeAllListeners('data').resume();
  }

  #join(client: Socket, server: Socket): void {
    const end = (): void => {
      client.destroy();
      server.destroy();
    };
    let isCut = this.#isDown;
    this.connections += 1;
    if (isCut) return end();
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.on('error', end).on('close', end);
    }
    client.on('data', (data) => {
      const broken = this.#next;
      this.#next = undefined;
      if (broken === 'request') return end();
      isCut ||= broken === 'answer' || (this.#cut !== undefined && data.includes(this.#cut.text));
      server.write(data);
    });
    server.on('data', (data) => {
      if (isCut) {
        this.#isDown = this.#cut !== undefined;
        this.#cut?.lost();
        end();
      } else client.write(data);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await once(this.#server.close(), 'close');
  }
}
