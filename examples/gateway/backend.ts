/** An embedded PostgreSQL behind a socket, in a process of its own: while it works nothing else happens there. */
import { PGlite } from '@electric-sql/pglite';
import { PGLiteSocketServer } from '@electric-sql/pglite-socket';

// The gateway is gone, whatever became of it.
process.on('disconnect', () => process.exit());
// Ctrl-C reaches every process of a terminal. The gateway decides what it means.
process.on('SIGINT', () => undefined);

const db = await PGlite.create();
const server = new PGLiteSocketServer({ db, host: '127.0.0.1', port: 0, maxConnections: 100 });
server.addEventListener('listening', (event) => {
  process.send?.((event as CustomEvent<{ readonly port: number }>).detail.port);
});
await server.start();
