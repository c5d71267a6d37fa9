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
    case 'sql':
      return coverFault(block, exists);
    case 'mermaid':
      return diagramFault(block.code);
    default:
      return `"${block.language}" is not a language of these pages: use ts, json, sh, sql, http, mermaid or text`;
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

/** Names of states: words that the language does not use itself. */
const name = '(?!(?:as|class|classDef|default|direction|end|note|state|stateDiagram|style)\\b)[a-z]\\w*';

/** The lines of a diagram of states: a small part of Mermaid, which every viewer reads alike. */
const diagramLines = [
  `state "[\\w ,-]+" as ${name}`,
  `\\[\\*\\] --> ${name}`,
  `${name} --> \\[\\*\\]`,
  `${name} --> ${name} : [\\w /.-]+`,
].map((form) => new RegExp(`^ {2}${form}$`));

function diagramFault(code: string): string | undefined {
  const [first, ...lines] = code.split('\n');
  if (first !== 'stateDiagram-v2') return 'a diagram must begin with stateDiagram-v2';
  const wrong = lines.find((line) => !diagramLines.some((form) => form.test(line)));
  return wrong === undefined ? undefined : `a diagram of states cannot have the line "${wrong}"`;
}

function coverFault({ language, words }: CodeBlock, exists: (path: string) => boolean): string | undefined {
  const test = words.find((word) => word.startsWith(coveredBy))?.slice(coveredBy.length);
  if (test === undefined)
    return `nothing runs these commands: name the test that does, as "${language} ${coveredBy}<path>"`;
  return exists(test) ? undefined : `there is no ${test}`;
}
