import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import { createSnapshot } from 'gateway-admin-core';

import { command, servers, wordsOf } from '../cli/command-line.ts';
import { read } from '../support/project.ts';
import { runAdmin } from '../support/running-admin.ts';
import { codesOf, tablesOf } from './table.ts';
import { commands, exitCodes } from './tables.ts';

const page = read('docs/command-line.md');

/** The gateway of the pages. */
const snapshot = createSnapshot(
  {
    servers: [
      { name: 'db-1', address: '10.0.0.1', port: 5432, protocol: 'pg', status: ['running'] },
      { name: 'db-2', address: '10.0.0.2', port: 5432, protocol: 'pg' },
    ],
    services: [
      {
        name: 'Sales',
        router: 'readconnroute',
        servers: ['/servers/db-1', '/servers/db-2'],
        max_connection: 100,
      },
      { name: 'Reports', router: 'readconnroute', servers: ['/servers/db-2'], state: 'stopped' },
    ],
    monitors: [{ name: 'Watch', module: 'pgmon', servers: ['/servers/db-1', '/servers/db-2'] }],
    sessions: [1, 2, 3].map((id) => ({
      id,
      state: 'Session ready for routing',
      user: 'app',
      address: `192.0.2.1${String(id)}`,
      service: '/services/Sales',
      connected: '2016-09-09T11:12:37Z',
    })),
  },
  { epoch: 'a8' },
);

/** A command of a page, and what it prints. */
interface Example {
  readonly line: string;
  readonly output: string;
}

/** The commands of a page with what they print, in order. A command can go on behind a backslash. */
function examplesOf(text: string): readonly Example[] {
  return [...text.matchAll(/^```text\n\$ ((?:gateway-admin|curl) (?:.*\\\n)*.*)\n([^]*?)```$/gm)].map(
    ([, line = '', output = '']) => ({
      line,
      output,
    }),
  );
}

/** The pages that show commands with what they print, each with the least number of commands. */
const pages = {
  'docs/command-line.md': 8,
  'docs/create-delete-drain.md': 6,
  'docs/find-sessions.md': 4,
  'docs/plan-and-undo.md': 4,
};
const hasCurl = spawnSync('curl', ['--version']).status === 0;

describe('a page with commands', () => {
  const serve = servers(afterEach);
  const directory = mkdtempSync(join(tmpdir(), 'gateway-admin-'));
  afterAll(() => rmSync(directory, { recursive: true }));

  it.each(Object.entries(pages))('%s shows what each prints, command after command', async (path, least) => {
    const { admin, clock } = runAdmin({ snapshot, timeZone: 'UTC', name: 'eu-1' });
    const url = await serve(admin);
    // Until then, the monitor may still see the server for the first time.
    await clock.advance(60_000);
    const file = join(directory, 'gateway.json');
    const examples = examplesOf(read(path));
    expect(examples.length).toBeGreaterThanOrEqual(least);
    for (const { line, output } of examples) {
      const [program, ...given] = wordsOf(line.replaceAll('\\\n', ''));
      if (program === 'curl') {
        // Not every machine has curl. The commands of the command line are compared anyway.
        if (hasCurl)
          expect([line, await curl(line, url)]).toEqual([line, expect.stringMatching(form(output))]);
        continue;
      }
      const args = given.map((arg) => (arg === 'gateway.json' ? file : arg));
      let shown = '';
      const record = (part: string): void => void (shown += part);
      const { code, out } = await command([...args, '--url', url], { record });
      const printed = shown.replaceAll(file, 'gateway.json');
      const refused = args[0] === 'status' ? exitCodes.wrong : exitCodes.refused;
      const expectedCode = /^gateway-admin: /m.test(output) ? refused : exitCodes.done;
      // The page shows the beginning of a long document.
      expect([args, code, args[0] === 'export' ? printed.slice(0, output.length) : printed]).toEqual([
        args,
        expectedCode,
        output,
      ]);
      if (args[0] === 'export') writeFileSync(file, edited(out));
    }
  });
});

/** Runs a command of a page against an interface, and gives what it prints. */
async function curl(line: string, url: string): Promise<string> {
  const quiet = line.replace('curl ', 'curl -s ').replace('localhost:8989', url);
  const child = spawn('sh', ['-c', quiet], { stdio: ['ignore', 'pipe', 'ignore'] });
  let text = '';
  for await (const piece of child.stdout.setEncoding('utf8')) text += String(piece);
  return text.trimEnd();
}

/** What the page says of an answer: a line can go on, indented, in the next line, and `…` stands for any text. */
function form(output: string): RegExp {
  const parts = output.trimEnd().replaceAll(/\n +/g, '').split('…');
  return new RegExp(`^${parts.map((part) => part.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&')).join('[^]*')}$`);
}

describe('docs/command-line.md', () => {
  it('names every command', () => {
    const prose = page.replaceAll(/```[^]*?```/g, '');
    const named = new Set(codesOf(prose).map((code) => code.replace('gateway-admin ', '').split(' ')[0]));
    expect([...commands.keys()].filter((name) => !named.has(name))).toEqual([]);
  });

  it('lists every exit code', () => {
    const table = tablesOf(page).find(({ header }) => header[0] === 'Exit code');
    expect(table?.rows.map(([code]) => Number(code))).toEqual([...new Set(Object.values(exitCodes))]);
  });
});

/** What the reader of the page changes in the document. */
function edited(text: string): string {
  const document = JSON.parse(text) as Record<'servers' | 'services', Record<string, unknown>[]>;
  Object.assign(document.servers[1] ?? {}, { status: ['maintenance'] });
  Object.assign(document.services[0] ?? {}, { max_connection: 80 });
  Object.assign(document.services[1] ?? {}, { state: 'started' });
  return JSON.stringify(document);
}
