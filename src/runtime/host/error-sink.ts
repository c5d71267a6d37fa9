/**
 * The error sink: takes every error that the host must know to `onError`, or to the console.
 */
import { callFailed, causeText, HostError } from './host-error.ts';
import { ReportError } from './report-error.ts';

/** The largest number of kinds of errors that the console gets. @internal */
export const mostKinds = 100;

/**
 * Wraps `onError` in a function that never throws or rejects.
 *
 * Without `onError`, the console gets the first error of each kind. If `onError` itself fails, the console gets that
 * error once.
 *
 * @internal
 */
export function createErrorSink(onError?: (error: unknown) => unknown): (error: unknown) => void {
  const shown = new Set<string>();
  const showOnce = (error: unknown): void => {
    const kind = kindOf(error);
    if (shown.has(kind) || shown.size >= mostKinds) return;
    shown.add(kind);
    show(error);
  };
  if (onError === undefined) return showOnce;
  return (error) => {
    const fail = (cause: unknown): void => {
      showOnce(callFailed('onError', cause, `The error for onError was: ${causeText(error)}.`));
    };
    try {
      // The wrapper accepts also a thenable, whose rejection must not end the process.
      Promise.resolve(onError(error)).catch(fail);
    } catch (cause) {
      fail(cause);
    }
  };
}

/** A text that is equal for errors of one kind. */
function kindOf(error: unknown): string {
  try {
    if (error instanceof HostError)
      return error.call === 'onError' ? error.call : `${error.call} ${nameOf(error.cause)}`;
    if (error instanceof ReportError) return error.name;
    return `${nameOf(error)} ${causeText(error)}`;
  } catch {
    return 'unreadable';
  }
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}

/** Some runtimes have no console, and a host can replace the console. */
function show(error: unknown): void {
  try {
    (globalThis as { readonly console?: Pick<Console, 'error'> }).console?.error(error);
  } catch {
    // Nobody is left who could be told.
  }
}
