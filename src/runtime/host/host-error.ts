/**
 * The errors that `onError` gets: of a function of the host that fails, answers wrongly or answers too late, of faulty
 * reports, and of a document that differs from the store.
 */
import { AdminError } from '../../error.ts';
import type { Hasher, Logger } from '../../ports/port.ts';
import { cut, listFaults, type Fault, maxListedFaults } from '../../problem.ts';
import type { Effect } from '../../resources/index.ts';
import type { Telemetry } from '../../resources/telemetry.ts';
import { isThenable } from './check.ts';
import { onlyInDocument, type DocumentDifference } from '../../resources/shared/document-difference.ts';

/**
 * The functions of the host whose errors become a {@link HostError}. Functions that must answer at once, such as
 * `veto`, must not give a promise.
 *
 * @public
 */
export type HostCall =
  | 'apply'
  | 'inspect'
  | 'behind'
  | 'clock.now'
  | 'clock.monotonic'
  | 'clock.sleep'
  | 'onError'
  | 'onMeasurement'
  | `logger.${keyof Logger}`
  | 'veto'
  | 'foresee'
  | 'authenticate'
  | 'authenticate.isOpen'
  | 'principal'
  | 'authorize'
  | 'passwordPolicy'
  | 'peerOf'
  | `hasher.${keyof Hasher}`
  | 'sealer.seal'
  | 'sealer.open'
  | 'audit.append'
  | 'audit.dispose'
  | `telemetry.${keyof Telemetry}`;

/**
 * The error that `onError` gets if a function of the host fails, answers wrongly or answers too late.
 *
 * `onError` gets the error whatever the outcome of the command is. A refusal ({@link EffectRefusedError}) is no error,
 * unless the refusal comes too late. The `cause` is the value that the function threw; without a value, the answer was
 * wrong or late.
 *
 * @public
 */
export class HostError extends AdminError {
  /** The function of the host. */
  readonly call: HostCall;
  /** Id of the command; left out if the call does not belong to a command. */
  readonly commandId?: string;
  readonly #effect: Effect | undefined;

  /**
   * @param message - a sentence for an operator
   * @param details - the function, and the effect, the command and the cause if there are any
   */
  constructor(
    message: string,
    details: {
      readonly call: HostCall;
      readonly effect?: Effect;
      readonly commandId?: string;
      readonly cause?: unknown;
    },
  ) {
    super('host-failed', message, 'cause' in details ? { cause: details.cause } : {});
    this.name = 'HostError';
    this.call = details.call;
    if (details.commandId !== undefined) this.commandId = details.commandId;
    this.#effect = details.effect;
  }

  /**
   * The effect of the call; `undefined` if the call has no effect. A getter, so that a console that prints the error
   * does not print the settings in the effect.
   */
  get effect(): Effect | undefined {
    return this.#effect;
  }
}

/**
 * Makes the error for a function that failed.
 *
 * @param instead - a sentence about the consequence
 * @internal
 */
export function callFailed(call: HostCall, cause: unknown, instead = requestRefused): HostError {
  return new HostError(`${call} failed: ${causeText(cause)}. ${instead}`, { call, cause });
}

/**
 * Makes the error for a wrong answer. A promise gets a handler. A string is not shown, because a string can contain a
 * secret.
 *
 * @param instead - a sentence about the consequence
 * @internal
 */
export function wrongAnswer(
  call: HostCall,
  answer: unknown,
  wanted: string,
  instead = requestRefused,
): HostError {
  const shown = typeof answer === 'string' && answer !== '' ? 'a string' : answerText(answer);
  return new HostError(`${call} answered ${shown} instead of ${wanted}. ${instead}`, { call });
}

const requestRefused = 'The request was refused.';

/** Longest text of a host that is shown, in UTF-16 code units. */
const longestText = 500;

/** Describes a thrown value in one line without a full stop; empty if the value cannot be read. @internal */
export function causeText(cause: unknown): string {
  try {
    const text = cause instanceof Error ? cause.message : String(cause);
    return cut(text, longestText).replace(/[.\s]+$/, '');
  } catch {
    return '';
  }
}

/** Describes a wrong answer in a few words. @internal */
export function answerText(answer: unknown): string {
  if (typeof answer === 'string') return JSON.stringify(cut(answer, longestText));
  if (typeof answer === 'function') return 'a function';
  if (typeof answer !== 'object' || answer === null) return String(answer);
  try {
    return isThenable(answer) ? 'a promise' : 'an object';
  } catch {
    return 'an object that cannot be read';
  }
}

/**
 * The error that `onError` gets if reports of the host have faults. A report with a fault changes nothing; the other
 * reports of the same call still count.
 *
 * @public
 */
export class ReportError extends AdminError {
  /** Every fault, with a JSON Pointer into the list of reports. */
  readonly faults: readonly Fault[];

  /** @param faults - every fault; the message lists up to 20 of them */
  constructor(faults: readonly Fault[]) {
    super(
      'report-invalid',
      `Reports of the host have faults and were ignored: ${listFaults(faults).join('; ')}`,
    );
    this.name = 'ReportError';
    this.faults = faults;
  }
}

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
   * @param how - `advice`: how to bring what only the document has into use; `refusal`: what the host would refuse
   *   of the document
   */
  constructor(
    differences: readonly DocumentDifference[],
    { advice, refusal }: { readonly advice?: string | undefined; readonly refusal?: string | undefined } = {},
  ) {
    const places = `${String(differences.length)} place${differences.length === 1 ? '' : 's'}`;
    const head = `The given document differs from the store in ${places}. The configuration in the store is in use.`;
    const next =
      refusal === undefined
        ? `${remedy}${additionsIn(differences, advice)}`
        : `The gateway would refuse to adopt this document: ${refusal} Change the document.`;
    super('document-differs', `${[head, ...linesOf(differences)].join('\n  ')}\n${next}`);
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
