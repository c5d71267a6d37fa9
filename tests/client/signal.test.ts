/**
 * Signals of requests over fetch, in a process that collects its garbage while a body is read: fetch of Node 20 and 22
 * then no longer follows the signal.
 */
import { execFile } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

import { beforeAll, describe, expect, it } from '@jest/globals';

import { buildPackage } from '../support/built-package.ts';
import { root } from '../support/project.ts';

beforeAll(buildPackage);

/**
 * A server that sends the beginning of a body and then nothing, and a client whose signal aborts after a collection.
 */
const program = (type: string, beginning: string, read: string): string => `
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient, sendWithFetch } from ${JSON.stringify(pathToFileURL(`${root}dist/client/index.js`).href)};

let isClosed = false;
const server = createServer((_request, response) => {
  response.writeHead(200, { 'content-type': ${JSON.stringify(type)} }).write(${JSON.stringify(beginning)});
  response.on('close', () => (isClosed = true));
}).listen(0, '127.0.0.1');
await new Promise((resolve) => server.once('listening', resolve));
const send = sendWithFetch('http://127.0.0.1:' + server.address().port);
const client = createClient(send);
const { signal, abort } = (() => {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort(new Error('left')) };
})();
const reading = (${read})().then(() => 'ended', ({ message }) => message);
await sleep(100);
for (let round = 0; round < 5; round += 1) {
  gc();
  await sleep(10);
}
abort();
const end = await Promise.race([reading, sleep(180_000, 'still reading', { ref: false })]);
for (let wait = 0; wait < 100 && !isClosed; wait += 1) await sleep(10);
console.log(end, isClosed ? 'closed' : 'still open');
process.exit();
`;

async function outputOf(source: string): Promise<string> {
  const args = ['--expose-gc', '--input-type=module', '--eval', source];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return stdout;
}

describe('a signal of a request over fetch, after memory was collected', () => {
  it.each([
    [
      'client.events',
      'ended',
      program(
        'text/event-stream',
        ':\n\n',
        'async () => { for await (const item of client.events({ signal })); }',
      ),
    ],
    ['a list', 'left', program('application/json', '[', 'async () => client.services.list({ signal })')],
    [
      'a body that a program reads itself',
      'left',
      program(
        'application/json',
        '[',
        "async () => { for await (const _ of (await send({ method: 'GET', target: '/', headers: {}, signal })).body); }",
      ),
    ],
  ])('ends %s, and the connection', async (_what, end, source) => {
    expect(await outputOf(source)).toBe(`${end} closed\n`);
  });
});
