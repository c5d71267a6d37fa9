/**
 * The error for a gateway document that differs from the configuration in the store.
 */
import { AdminError } from '../../error.ts';
import { maxListedFaults } from '../../problem.ts';
import { onlyInDocument, type DocumentDifference } from '../../resources/shared/document-difference.ts';

/**
 * The error that `onError` gets if the snapshot given to {@link openAdmin} differs from the configuration in the store.
 * The configuration in the store is in use.
 *
 * With a `logger`, differences that {@link adoptDocument} can take over are no error: they are logged at level info.
 *
 * Told once for each `openAdmin`, after the commands of the last process are settled. {@link adoptDocument} takes the
 * part of the document over that can change while the gateway runs.
 *
 * @public
 */
export class DifferingDocumentError extends AdminError {
  readonly #differences: readonly DocumentDifference[];

  /**
   * @param differences - every difference; the message lists the first 20
   * @param advice - how to bring what only the document has into use
   */
  constructor(differences: readonly DocumentDifference[], advice?: string) {
    const places = `${String(differences.length)} place${differences.length === 1 ? '' : 's'}`;
    const head = `The given document differs from the store in ${places}. The configuration in the store is in use.`;
    super(
      'document-differs',
      [head, ...linesOf(differences)].join('\n  ') + `\n${remedy}${additionsIn(differences, advice)}`,
    );
    this.name = 'DifferingDocumentError';
    this.#differences = differences;
  }

  /** Every difference, without secrets. A getter, so that a console prints the message alone. */
  get differences(): readonly DocumentDifference[] {
    return this.#differences;
  }
}

const remedy =
  'To use the values of the document, execute adoptDocument (the part after a semicolon says why a place cannot be ' +
  'adopted). To keep the values in use, change the document.';

/** What only the document has, and how to bring it into use. */
function additionsIn(differences: readonly DocumentDifference[], advice: string | undefined): string {
  const links = differences.flatMap(({ detail, obstacle, resource }) =>
    detail === onlyInDocument && obstacle === undefined ? [resource] : [],
  );
  if (links.length === 0) return '';
  const named = links.length > 3 ? [...links.slice(0, 3), `${String(links.length - 3)} more`] : links;
  const next = advice === undefined ? '' : ` ${advice}`;
  return `\nOnly in the document, and not in use: ${named.join(', ')}.${next}`;
}

function linesOf(differences: readonly DocumentDifference[]): readonly string[] {
  const lines = differences.slice(0, maxListedFaults).map(({ resource, pointer, detail, obstacle }) => {
    const reason = obstacle === undefined ? '' : `; ${obstacle}`;
    return `${resource} (${pointer}): ${detail}${reason}`;
  });
  const more = differences.length - lines.length;
  return more > 0 ? [...lines, `and ${String(more)} more`] : lines;
}
