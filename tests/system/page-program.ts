/**
 * Programs of the pages: found by their section, and given what they need to run.
 */
import { once } from 'node:events';
import { mkdirSync, symlinkSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { dirname } from 'node:path';

import { blocksOfMarkdown, fileNameOf, type CodeBlock } from '../docs/code-block.ts';
import { read } from '../support/project.ts';

/** The blocks of a section that are so. */
export function codesOf(
  page: string,
  heading: string,
  isSo: (block: CodeBlock) => boolean,
): readonly string[] {
  const [, text = ''] = read(page).split(`\n## ${heading}\n`);
  const [section = ''] = text.split('\n## ');
  return blocksOfMarkdown(page, section).flatMap((block) => (isSo(block) ? [block.code] : []));
}

/** The first block of a section that is so. */
export function codeOf(...place: Parameters<typeof codesOf>): string {
  const [code] = codesOf(...place);
  if (code === undefined) throw new Error(`${place[0]} has no such block below "${place[1]}"`);
  return code;
}

/** Whether a block is in a language. */
export const inLanguage = (language: string) => (block: CodeBlock) => block.language === language;

/** Whether a block is a file of a name. */
export const named = (name: string) => (block: CodeBlock) => fileNameOf(block) === name;

/** A port of this machine that nothing uses. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await once(server.close(), 'close');
  return port;
}

/** Puts a link to a file or folder at a path. */
export function link(target: string, path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(target, path);
}
