/**
 * Code blocks: found in Markdown pages and in the documentation comments of sources.
 */

/** A fenced block of a page. */
export interface CodeBlock {
  /** The page, by its path from the root. */
  readonly file: string;
  /** Line of the page on which the code begins, counted from 1. */
  readonly line: number;
  /** First word after the fence; empty when there is none. */
  readonly language: string;
  /** The other words after the fence. */
  readonly words: readonly string[];
  readonly code: string;
}

/** TypeScript blocks of a page that make one program: one block and those that continue it. */
export type Chain = readonly [CodeBlock, ...CodeBlock[]];

/**
 * Finds the fenced blocks of a Markdown page, those inside lists included.
 *
 * @throws SyntaxError when a fence is not closed
 */
export function blocksOfMarkdown(file: string, text: string): readonly CodeBlock[] {
  const blocks: CodeBlock[] = [];
  let open: { fence: string; indent: number; info: string; line: number; code: string[] } | undefined;
  for (const [index, line] of text.split('\n').entries()) {
    const [, indent = '', fence, info = ''] = /^( *)(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
    if (open === undefined) {
      if (fence !== undefined) open = { fence, indent: indent.length, info, line: index + 2, code: [] };
    } else if (fence?.startsWith(open.fence) === true && info.trim() === '') {
      blocks.push(blockOf(file, open));
      open = undefined;
    } else open.code.push(withoutIndent(line, open.indent));
  }
  if (open !== undefined) throw new SyntaxError(`${file}:${String(open.line - 1)}: the fence is not closed`);
  return blocks;
}

/** Finds the fenced blocks in the documentation comments of a source. */
export function blocksOfSource(file: string, text: string): readonly CodeBlock[] {
  return blocksOfMarkdown(file, commentsOnly(text));
}

/** The lines of all `@example` tags of a source that no TypeScript block follows before the next tag. */
export function examplesWithoutCode(text: string): readonly number[] {
  const lines = commentsOnly(text).split('\n');
  const missing: number[] = [];
  for (const [index, line] of lines.entries()) {
    if (!line.startsWith('@example')) continue;
    const rest = lines.slice(index + 1);
    const end = rest.findIndex((each) => each.startsWith('@') || each === endOfComment);
    if (!rest.slice(0, end).some((each) => each.startsWith('```ts'))) missing.push(index + 1);
  }
  return missing;
}

/** Puts each TypeScript block whose first line is `// continued` behind the one before it. */
export function chainsOf(blocks: readonly CodeBlock[]): readonly Chain[] {
  const chains: [CodeBlock, ...CodeBlock[]][] = [];
  for (const block of blocks) {
    if (block.language !== 'ts') continue;
    if (!block.code.startsWith('// continued')) chains.push([block]);
    else {
      const last = chains.at(-1);
      if (last === undefined) throw new SyntaxError(`${placeOf(block)}: there is no block to continue`);
      last.push(block);
    }
  }
  return chains;
}

/** The blocks as one text in which each line of code has the number that it has on its page. */
export function textOf(blocks: readonly CodeBlock[]): string {
  const lines: string[] = [];
  for (const block of blocks) {
    while (lines.length < block.line - 1) lines.push('');
    lines.push(...block.code.split('\n'));
  }
  return lines.join('\n');
}

/** The name of the file in which a reader saves a block: the info word `file=<name>`. */
export function fileNameOf({ words }: CodeBlock): string | undefined {
  return words.find((word) => word.startsWith('file='))?.slice('file='.length);
}

/** Where a block stands, as `page:line`. */
export function placeOf(block: CodeBlock): string {
  return `${block.file}:${String(block.line)}`;
}

const endOfComment = '*/';

/** What the documentation comments say, without their stars, each line where it was; all else is empty. */
function commentsOnly(text: string): string {
  let inside = false;
  const lines = text.split('\n').map((line) => {
    if (/^\s*\/\*\*/.test(line)) inside = !line.includes('*/');
    else if (inside && line.includes('*/')) {
      inside = false;
      return endOfComment;
    } else if (inside) return line.replace(/^\s*\* ?/, '');
    return '';
  });
  return lines.join('\n');
}

function blockOf(file: string, open: { info: string; line: number; code: string[] }): CodeBlock {
  const [language = '', ...words] = open.info.trim().split(/\s+/);
  return { file, line: open.line, language, words, code: open.code.join('\n') };
}

function withoutIndent(line: string, indent: number): string {
  return line.slice(0, indent).trim() === '' ? line.slice(indent) : line;
}
