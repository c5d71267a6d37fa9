/**
 * Problems: why a request, a document or a report was refused, as RFC 9457 problem details.
 *
 * The table below gives the HTTP status and the title of each problem code; no other place does. Codes are public API:
 * a new code is a minor change, a renamed or removed code is a major change.
 */

/**
 * Every problem code with its HTTP status and its title.
 *
 * @see RFC 9110 §15 for the statuses, RFC 5789 §2.2 for those of PATCH, RFC 6585 for 429.
 *
 * @public
 */
export const problemTable = tableOf({
  'body-missing': { status: 400, title: 'The request needs a body' },
  'body-encoding-invalid': { status: 400, title: 'The body is not UTF-8' },
  'body-not-json': { status: 400, title: 'The body is not JSON' },
  'body-duplicate-key': { status: 400, title: 'The body names a member twice' },
  'body-too-deep': { status: 400, title: 'The body is nested too deeply' },
  'number-out-of-range': { status: 400, title: 'A number cannot be represented' },
  'path-encoding-invalid': { status: 400, title: 'The path has a broken escape' },
  'session-id-invalid': { status: 400, title: 'The session id is malformed' },
  'range-invalid': { status: 400, title: 'The range is malformed' },
  'fields-invalid': { status: 400, title: 'The list of fields is malformed' },
  'query-invalid': { status: 400, title: 'The query is not supported here' },
  'header-invalid': { status: 400, title: 'A header is malformed' },
  'patch-malformed': { status: 400, title: 'The body is not a JSON Patch' },
  'pointer-invalid': { status: 400, title: 'A JSON Pointer is malformed' },
  unauthenticated: { status: 401, title: 'Authentication is needed' },
  forbidden: { status: 403, title: 'This is not allowed' },
  'read-only': { status: 403, title: 'The interface is read-only' },
  'origin-refused': { status: 403, title: 'This origin is not allowed' },
  'service-not-found': { status: 404, title: 'There is no such service' },
  'server-not-found': { status: 404, title: 'There is no such server' },
  'listener-not-found': { status: 404, title: 'There is no such listener' },
  'monitor-not-found': { status: 404, title: 'There is no such monitor' },
  'filter-not-found': { status: 404, title: 'There is no such filter' },
  'session-not-found': { status: 404, title: 'There is no such session' },
  'user-not-found': { status: 404, title: 'There is no such user' },
  'node-not-found': { status: 404, title: 'There is no such node' },
  'command-not-found': { status: 404, title: 'There is no such command in flight' },
  'entry-not-found': { status: 404, title: 'There is no such entry in the history' },
  'route-not-found': { status: 404, title: 'There is nothing at this path' },
  'method-not-allowed': { status: 405, title: 'The method is not allowed here' },
  'body-timeout': { status: 408, title: 'The body did not arrive in time' },
  'patch-path-missing': { status: 409, title: 'The patch names a place that does not exist' },
  'patch-test-failed': { status: 409, title: 'A test of the patch failed' },
  'user-exists': { status: 409, title: 'The user exists already' },
  'resource-exists': { status: 409, title: 'Another resource has the name' },
  'resource-in-use': { status: 409, title: 'The resource is in use' },
  'not-supported': { status: 409, title: 'The gateway cannot do this while it runs' },
  'last-user': { status: 409, title: 'The last user cannot be deleted' },
  'last-administrator': { status: 409, title: 'The last administrator cannot be deleted' },
  'command-in-progress': { status: 409, title: 'An earlier command is in flight' },
  'command-not-abandonable': { status: 409, title: 'The command cannot be abandoned' },
  'document-empty': { status: 409, title: 'The document would delete everything' },
  'undo-refused': { status: 409, title: 'The entry cannot be undone' },
  'node-alive': { status: 409, title: 'The node may be alive' },
  'effect-refused': { status: 409, title: 'The gateway refused or did not make the change' },
  'partly-done': { status: 409, title: 'The gateway refused after a part was done' },
  'precondition-failed': { status: 412, title: 'A condition of the request is not met' },
  'content-too-large': { status: 413, title: 'The body is too large' },
  'uri-too-long': { status: 414, title: 'The request target is too long' },
  'unsupported-media-type': { status: 415, title: 'The media type is not supported here' },
  'validation-failed': { status: 422, title: 'The content is not valid' },
  'field-not-modifiable': { status: 422, title: 'The field cannot be modified' },
  'field-unknown': { status: 422, title: 'There is no such field' },
  'field-write-only': { status: 422, title: 'The field can only be written' },
  'op-not-allowed': { status: 422, title: 'The operation is not allowed here' },
  'reserved-key': { status: 422, title: 'A reserved key is used' },
  'link-unresolved': { status: 422, title: 'A link does not resolve' },
  'parameter-not-configurable': { status: 422, title: 'The parameter cannot be configured' },
  'password-unacceptable': { status: 422, title: 'The password is not acceptable' },
  'secret-not-storable': { status: 422, title: 'The secret cannot be stored' },
  'patch-too-many-operations': { status: 422, title: 'The patch has too many operations' },
  'patch-result-too-large': { status: 422, title: 'The result of the patch is too large' },
  'login-throttled': { status: 429, title: 'Too many log-ins' },
  internal: { status: 500, title: 'Internal error' },
  'method-unknown': { status: 501, title: 'The method is unknown' },
  overloaded: { status: 503, title: 'The interface is overloaded' },
  'audit-unavailable': { status: 503, title: 'Audit records cannot be kept' },
  fenced: { status: 503, title: 'The fleet has ended the command' },
  'node-outdated': { status: 503, title: 'This node is too old for the fleet' },
  'node-behind': { status: 409, title: 'The gateway has not followed the fleet' },
  'store-unavailable': { status: 503, title: 'The configuration store is unavailable' },
  'not-ready': { status: 503, title: 'The gateway is not ready' },
  closed: { status: 503, title: 'The administration interface is closed' },
  'outcome-unknown': { status: 504, title: 'The outcome is not known yet' },
});

/**
 * The status and the title of a problem code.
 *
 * @public
 */
export interface ProblemRow {
  /** HTTP status code. */
  readonly status: number;
  /** Short text for the kind of problem; the same for every occurrence. */
  readonly title: string;
}

/** Freezes the rows. The type has the codes, without the texts. */
function tableOf<Rows extends Record<string, ProblemRow>>(
  rows: Rows,
): { readonly [Code in keyof Rows]: ProblemRow } {
  for (const row of Object.values(rows)) Object.freeze(row);
  return Object.freeze(rows);
}

/**
 * A stable slug that names a kind of problem, such as `service-not-found`.
 *
 * @public
 */
export type ProblemCode = keyof typeof problemTable;

/**
 * A slug that a host names a kind of problem of its own with, such as `host-business-hours`.
 *
 * @public
 */
export type HostProblemCode = `host-${string}`;

/** A code of either. With a name, because the compiler would write all codes into its messages. @internal */
type AnyProblemCode = ProblemCode | HostProblemCode;

/**
 * One fault in a request, a document or a report.
 *
 * @public
 */
export interface Fault {
  /** JSON Pointer (RFC 6901) to the faulty place in the JSON that was sent; `''` is the whole of the JSON. */
  readonly pointer: string;
  /** Zero-based index of the faulty patch operation. Left out when no single operation is at fault. */
  readonly operation?: number;
  /** The kind of fault. */
  readonly code: ProblemCode;
  /** For people: the fault, and how to correct it. Completes a sentence that starts with the place. */
  readonly detail: string;
}

/**
 * Why a request, a document or a report was refused, as RFC 9457 problem details.
 *
 * @typeParam Code - the codes that are possible; without a host's own rule, only {@link ProblemCode}
 *
 * @public
 */
export interface Problem<Code extends AnyProblemCode = AnyProblemCode> {
  /** URI of the kind of problem: a name, no address. Its last word is the code, whose row is in docs/errors.md. */
  readonly type: string;
  /** Short text for the kind of problem; the same for every occurrence. */
  readonly title: string;
  /** HTTP status code. */
  readonly status: number;
  /** The cause this time, the place, and the next step. Never contains a secret, the body or a stack. */
  readonly detail: string;
  /** Stable slug for programs; see {@link ProblemCode} and {@link HostProblemCode}. */
  readonly code: Code;
  /** The single faults, at most 20 of them. Left out when the problem has no single places. */
  readonly errors?: readonly Fault[];
  /**
   * Id of the command in flight, for `command-in-progress`, `command-not-abandonable` and `outcome-unknown`; of the
   * later command that is in the way, for `undo-refused`.
   */
  readonly command?: string;
  /** The plan of the command as it is now, for `precondition-failed` of a mark; see {@link Plan}. */
  readonly plan?: object;
}

/**
 * A value, or the problem that explains why there is none.
 *
 * @public
 */
export type Result<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: Problem<ProblemCode> };

/**
 * The largest number of faults that one problem lists. `detail` gives the total.
 *
 * @public
 */
export const maxListedFaults = 20;

/**
 * Creates a problem.
 *
 * @param code - the kind of problem; decides status and title
 * @param text - a sentence for a person: the cause, the place, the reason and the next step; cut after 2,048 characters
 * @param errors - the single faults; faults after the first 20 are left out
 * @returns a frozen problem
 * @throws TypeError if there is no such code; {@link hostProblem} makes a problem with a code of the host
 *
 * @example
 * ```ts
 * import { problem } from 'gateway-admin-core';
 *
 * problem('service-not-found', 'There is no service named "sales". GET /services lists them.').status; // => 404
 * ```
 *
 * @see RFC 9457 §3.1.
 *
 * @public
 */
export function problem(code: ProblemCode, text: string, errors?: readonly Fault[]): Problem<ProblemCode> {
  if (!isProblemCode(code)) {
    throw new TypeError(
      'problem must get a code of problemTable; hostProblem makes a problem with a code of the host',
    );
  }
  const listed = errors && { errors: Object.freeze(errors.slice(0, maxListedFaults).map(shortened)) };
  return Object.freeze({ ...headOf(code, problemTable[code], text), ...listed });
}

/** The longest texts of a problem, in UTF-16 code units; longer ones are cut. @internal */
export const longestTexts = { title: 255, detail: 2048, faultPointer: 512, faultDetail: 1024 } as const;

function headOf<Code extends AnyProblemCode>(
  code: Code,
  { status, title }: Pick<Problem, 'status' | 'title'>,
  text: string,
): Problem<Code> {
  const type = `urn:problem-type:gateway-admin:${code}`;
  return {
    type,
    title: cut(title, longestTexts.title),
    status,
    detail: cut(text, longestTexts.detail),
    code,
  };
}

/**
 * Creates a problem with a code of the host, for a veto or for a transition of the host.
 *
 * @param code - `host-`, and then words of lower-case letters and digits with `-` between them; at most 64 characters
 * @param details - `status`: 409 if the state forbids the command, 422 if its content is wrong. `title`: a short text
 *   for the kind of problem. `detail`: a sentence for a person, cut after 2,048 characters
 * @returns a frozen problem
 * @throws TypeError if the code, the title or the detail is not such a text
 * @throws RangeError if the status is neither 409 nor 422
 *
 * @example
 * ```ts
 * import { hostProblem } from 'gateway-admin-core';
 *
 * const problem = hostProblem('host-business-hours', {
 *   status: 409,
 *   title: 'The service is in use',
 *   detail: 'No service is stopped during business hours. Try again after 18:00.',
 * });
 * problem.type; // => 'urn:problem-type:gateway-admin:host-business-hours'
 * ```
 *
 * @public
 */
export function hostProblem(
  code: HostProblemCode,
  details: { readonly status: 409 | 422; readonly title: string; readonly detail: string },
): Problem<HostProblemCode> {
  if (!isHostProblemCode(code))
    throw new TypeError(
      'The code of a hostProblem must be host- and words of a-z and 0-9, such as host-in-use',
    );
  // Hosts without types also call this function.
  const { status, title, detail } = Object(details) as { readonly [name: string]: unknown };
  if (!isFilled(title) || !isFilled(detail))
    throw new TypeError('The title and the detail of a hostProblem must be texts that are not empty');
  if (!isHostStatus(status)) throw new RangeError('The status of a hostProblem must be 409 or 422');
  return Object.freeze(headOf(code, { status, title }, detail));
}

function isProblemCode(code: unknown): code is ProblemCode {
  return typeof code === 'string' && Object.hasOwn(problemTable, code);
}

/** Longest problem code of a host. */
const longestHostCode = 64;

function isHostProblemCode(code: unknown): code is HostProblemCode {
  return typeof code === 'string' && code.length <= longestHostCode && /^host(?:-[a-z0-9]+)+$/.test(code);
}

function isHostStatus(status: unknown): status is 409 | 422 {
  return status === 409 || status === 422;
}

function isFilled(text: unknown): text is string {
  return typeof text === 'string' && text !== '';
}

/**
 * Reads a problem that a function of the host has returned. Each member is read once.
 *
 * @returns a problem as {@link problem} or {@link hostProblem} makes it; `undefined` for any other value, such as a
 *   problem whose status is not the status of its code
 * @internal
 */
export function parseProblem(value: unknown): Problem | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { code, status, title, detail, errors } = value as { readonly [name: string]: unknown };
  if (!isFilled(detail) || !isFilled(title)) return undefined;
  if (isHostProblemCode(code))
    return isHostStatus(status) ? hostProblem(code, { status, title, detail }) : undefined;
  if (!isProblemCode(code) || status !== problemTable[code].status) return undefined;
  if (errors === undefined) return problem(code, detail);
  return isFaultList(errors) ? problem(code, detail, errors) : undefined;
}

function isFaultList(errors: unknown): errors is readonly Fault[] {
  if (!Array.isArray(errors)) return false;
  return errors.every((each: unknown) => {
    if (typeof each !== 'object' || each === null) return false;
    const { pointer, code, detail } = each as { readonly [name: string]: unknown };
    return typeof pointer === 'string' && isProblemCode(code) && typeof detail === 'string';
  });
}

/**
 * Creates the problem for a list of faults. The problem has the code of the faults if all faults share one code, and
 * `validation-failed` (422) otherwise.
 *
 * @param faults - at least one fault
 * @throws RangeError when the list is empty
 *
 * @internal
 */
export function problemOf(faults: readonly Fault[]): Problem<ProblemCode> {
  const [first] = faults;
  if (first === undefined) throw new RangeError('A problem needs at least one fault, and the list is empty');
  const code = faults.every((fault) => fault.code === first.code) ? first.code : 'validation-failed';
  const more = faults.length === 1 ? '' : ` (and ${String(faults.length - 1)} more)`;
  const place = first.pointer === '' ? '' : `${cut(first.pointer, longestTexts.faultPointer)}: `;
  return problem(code, `${place}${first.detail}${more}`, faults);
}

/** Gives the faults of a problem; the problem as one fault if it lists none. @internal */
export function faultsOf({ errors, code, detail }: Problem<ProblemCode>): readonly Fault[] {
  return errors ?? [{ pointer: '', code, detail }];
}

/** Cuts the texts of a fault: a key that a client sent can be as long as the whole body. */
function shortened(fault: Fault): Fault {
  const { faultPointer, faultDetail } = longestTexts;
  return Object.freeze({
    ...fault,
    pointer: cut(fault.pointer, faultPointer),
    detail: cut(fault.detail, faultDetail),
  });
}

/** Cuts a text to a length in UTF-16 code units, and ends a cut text with `…`. @internal */
export function cut(text: string, length: number): string {
  // Never cut after a tilde, which is half a pointer escape, or after half a surrogate pair.
  return text.length <= length ? text : `${text.slice(0, length).replace(/[~\ud800-\udbff]$/, '')}…`;
}

/** Quotes a value that a client sent, cut to a readable length. Not for secrets. @internal */
export function quoted(value: string): string {
  const longest = 100;
  return `${JSON.stringify(value.slice(0, longest))}${value.length > longest ? '…' : ''}`;
}

/** Writes the first faults as lines for people, and a last line with the number of further faults. @internal */
export function listFaults(faults: readonly Fault[]): readonly string[] {
  const lines = faults
    .slice(0, maxListedFaults)
    .map(shortened)
    .map(({ pointer, code, detail }) => `${pointer === '' ? '(document)' : pointer}: ${detail} (${code})`);
  return faults.length > lines.length
    ? [...lines, `and ${String(faults.length - lines.length)} more`]
    : lines;
}

/** Wraps a value as a result. @internal */
export function ok<T>(value: T): Result<T> {
  return { ok: true, value };
}

/** Wraps a new problem as a result. @internal */
export function fail(
  code: ProblemCode,
  detail: string,
  errors?: readonly Fault[],
): { ok: false; problem: Problem<ProblemCode> } {
  return { ok: false, problem: problem(code, detail, errors) };
}
