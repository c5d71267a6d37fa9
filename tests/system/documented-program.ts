/**
 * Programs of the pages: their blocks, in a new project that is set up as README.md says.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';

import { afterEach } from '@jest/globals';

import { blocksOfMarkdown, fileNameOf, type CodeBlock } from '../docs/code-block.ts';
import { read, root } from '../support/project.ts';

/** The blocks of a section that are so. Without a heading, the blocks of the whole page. */
export function codesOf(
  page: string,
  heading: string | undefined,
  isSo: (block: CodeBlock) => boolean,
): readonly string[] {
  const text = heading === undefined ? read(page) : (read(page).split(`\n## ${heading}\n`)[1] ?? '');
  const [section = ''] = heading === undefined ? [text] : text.split('\n## ');
  return blocksOfMarkdown(page, section).flatMap((block) => (isSo(block) ? [block.code] : []));
}

/** The first block of a section that is so. */
export function codeOf(...place: Parameters<typeof codesOf>): string {
  const [code] = codesOf(...place);
  if (code === undefined) throw new Error(`${place[0]} has no such block below "${place[1] ?? ''}"`);
  return code;
}

export const inLanguage = (language: string) => (block: CodeBlock) => block.language === language;
export const named = (name: string) => (block: CodeBlock) => fileNameOf(block) === name;

/** A port of this machine that no program uses. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await once(server.close(), 'close');
  return port;
}

/** Writes a project into an empty directory. Links stand for `npm install`. */
export function writeProject(
  directory: string,
  files: Readonly<Record<string, string>>,
  packages: readonly string[] = [],
): void {
  for (const name of ['typescript', '@types/node', '.bin/tsc', ...packages])
    link(`${root}node_modules/${name}`, join(directory, 'node_modules', name));
  link(root, join(directory, 'node_modules/gateway-admin-core'));
  const all = {
    'package.json': JSON.stringify({ type: 'module' }),
    'tsconfig.json': codeOf('README.md', 'Install', inLanguage('json')),
    ...files,
  };
  for (const [name, text] of Object.entries(all)) writeFileSync(join(directory, name), text);
}

function link(target: string, path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(target, path);
}

/** A program that runs. */
export interface Program {
  /** What the program has printed. */
  readonly printed: () => string;
  /** Ends the program with a signal, and gives its exit code with the names of the errors and warnings it has printed. */
  end(this: void, signal: NodeJS.Signals): Promise<readonly [code: number | null, errors: readonly string[]]>;
}

/** Gives what starts programs and waits for their first lines. Programs that are left over end after each test. */
export function programStarter(): (cwd: string, command: string, port?: number) => Promise<Program> {
  const started = new Set<ChildProcess>();
  afterEach(() => {
    for (const child of started) child.kill('SIGKILL');
  });
  return async (cwd, command, port) => {
    const child = spawn('sh', ['-c', `exec ${command}`], {
      cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...(port === undefined ? {} : { PORT: String(port) }) },
    });
    started.add(child);
    const ended = once(child, 'close').finally(() => started.delete(child)) as Promise<[number | null]>;
    let [output, errors] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
    await Promise.race([
      once(child.stdout, 'data'),
      ended.then(([code]) =>
        Promise.reject(new Error(`The program has ended with ${String(code)}: ${errors}`)),
      ),
    ]);
    return {
      printed: () => output,
      async end(signal) {
        child.kill(signal);
        const [code] = await ended;
        return [code, errors.match(/^.*?(?:Error|Warning):/gm) ?? []];
      },
    };
  };
}
