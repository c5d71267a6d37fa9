/**
 * Plain blocks: what is asked of the blocks that are not TypeScript.
 */
import type { CodeBlock } from './code-block.ts';

const coveredBy = 'covered-by=';

/**
 * Says what is wrong with a block, or undefined when nothing is.
 *
 * @param exists - whether there is a file of the project at a path
 */
export function faultOf(block: CodeBlock, exists: (path: string) => boolean): string | undefined {
  switch (block.language) {
    case 'ts':
    case 'http':
    case 'text':
      return undefined;
    case 'json':
      return jsonFault(block.code);
    case 'sh':
      return coverFault(block.words, exists);
    default:
      return `"${block.language}" is not a language of these pages: use ts, json, sh, http or text`;
  }
}

function jsonFault(code: string): string | undefined {
  try {
    JSON.parse(code);
    return undefined;
  } catch (error) {
    return `it is not JSON: ${(error as Error).message}`;
  }
}

function coverFault(words: readonly string[], exists: (path: string) => boolean): string | undefined {
  const test = words.find((word) => word.startsWith(coveredBy))?.slice(coveredBy.length);
  if (test === undefined)
    return `nothing runs these commands: name the test that does, as "sh ${coveredBy}<path>"`;
  return exists(test) ? undefined : `there is no ${test}`;
}
