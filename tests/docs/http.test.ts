import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { describe, expect, it } from '@jest/globals';
import { routes, type Admin } from 'gateway-admin-core';
import { createNodeHandler } from 'gateway-admin-core/node';

import { runFor } from '../contract/problem-code.ts';
import { read } from '../support/project.ts';
import { blocksOfMarkdown } from './code-block.ts';
import { address, examples, followed, type Example } from './http.ts';
import { httpBlock } from './http-block.ts';

const page = read('docs/http.md');
const blocks = blocksOfMarkdown('docs/http.md', page);

/** The commands of the page, each with the answer below it. */
const commands = blocks.flatMap((block, at) =>
  block.language === 'sh' ? [{ command: block.code, answer: blocks[at + 1]?.code ?? '' }] : [],
);
const pairs = examples.map((example, at) => ({ example, command: '', answer: '', ...commands[at] }));
const hasCurl = spawnSync('curl', ['--version']).status === 0;

/** Runs a command of the page against an interface, and gives the answer as the page writes answers. */
async function run(command: string, { stream }: Example, admin: Admin): Promise<string> {
  const server = createServer(createNodeHandler(admin)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const line = command.replace(address, `http://127.0.0.1:${String(port)}`);
  const child = spawn('sh', ['-c', `exec ${line}`], { stdio: ['ignore', 'pipe', 'ignore'] });
  const pieces = child.stdout.setEncoding('utf8') as AsyncIterable<string>;
  try {
    return blockOf(await (stream === true ? followed(admin, pieces) : textOf(pieces)));
  } finally {
    child.kill();
    server.closeAllConnections();
    server.close();
  }
}

async function textOf(pieces: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const piece of pieces) text += piece;
  return text;
}

function blockOf(output: string): string {
  const [, head = '', text = ''] = /^([^]*?)\r\n\r\n([^]*)$/.exec(output) ?? [];
  const [first = '', ...lines] = head.split('\r\n');
  const headers = lines
    .map((line) => line.split(/: (.*)/))
    .map(([name = '', value = '']) => [name.toLowerCase(), value]);
  const answer = {
    status: Number(first.split(' ')[1]),
    headers: Object.fromEntries(headers) as object,
    text,
  };
  return httpBlock(answer as Parameters<typeof httpBlock>[0]);
}

describe('the page of endpoints', () => {
  it('has a section for each endpoint', () => {
    const sections = [...page.matchAll(/^### `([A-Z]+ .*)`$/gm)].map(([, name]) => name);
    expect(sections.toSorted()).toEqual(routes.map(({ method, path }) => `${method} ${path}`).toSorted());
    const chapters = [...page.matchAll(/^## .*$/gm)].map(([title]) => title);
    expect(new Set(chapters).size).toBe(chapters.length);
    expect(commands).toHaveLength(examples.length);
  });
});

// eslint-disable-next-line no-restricted-properties -- Not every machine has curl. The generated page is compared anyway.
const withCurl = hasCurl ? describe : describe.skip;

withCurl('the page of endpoints, if curl is installed,', () => {
  // Promise: curl-lines
  it.each(pairs)(
    'answers $example.method $example.target as it says',
    async ({ example, command, answer }) => {
      const { admin } = await runFor(example.endpoint);
      expect(await run(command, example, admin)).toBe(`\`\`\`http\n${answer}\n\`\`\`\n`);
    },
  );
});
