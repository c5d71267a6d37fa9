/**
 * The page about what is proved. Its table of planted faults is written from these and from what `npm run proof` has
 * found of them; all else is written by hand.
 */
import { plantedFaults } from '../support/planted-faults.ts';
import { read } from '../support/project.ts';

/** What `npm run proof -- --accept` writes. */
export interface Found {
  readonly commit: string;
  readonly faults: Readonly<Record<string, { readonly seconds: number; readonly steps: number } | undefined>>;
}

export function readFound(): Found {
  return JSON.parse(read('tests/faults/found.json')) as Found;
}

const columns = ['Where', 'Fault', 'Name', 'Found after', 'Steps'];

/** Writes the page, with the table of the faults as it must be. */
export function proofPage(): string {
  const { commit, faults } = readFound();
  const lines = plantedFaults()
    .filter(({ proof }) => proof !== undefined)
    .toSorted((one, other) => rooms.indexOf(one.proof ?? '') - rooms.indexOf(other.proof ?? ''))
    .map(({ name, proof = '', what }) => {
      const { seconds, steps } = faults[name] ?? {};
      return [proof, what, `\`${name}\``, `${String(seconds)} s`, String(steps)];
    });
  const table = [columns, columns.map(() => '---'), ...lines]
    .map((line) => `| ${line.join(' | ')} |\n`)
    .join('');
  return read('docs/proof.md')
    .replace(/(?<=\n## Planted faults\n[^|]*)(?:\|.*\n)+/, () => table)
    .replace(/(?<=at commit\s)[\da-f]{7,}(?=[ \n,]+on\stwo\scores)/, () => commit);
}

/** The order of the table. */
const rooms = ['command', 'journal', 'store', 'fleet', 'page'];
