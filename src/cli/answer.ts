/**
 * What the interface answers: the value, or the end of the command with its exit code.
 */
import type { Answer } from '../client/index.ts';
import type { Fault, Problem, ProblemCode } from '../index.ts';
import { problemTable } from '../problem.ts';
import { CommandError, exitCodes } from './command.ts';
import { kinds, subjectAt, type Subject } from './kind.ts';
import { safeText } from './output.ts';

/** What the answer to a command that was sent means: if nobody understands the answer, the outcome is unknown. */
export async function understood<T, M>(
  answer: Promise<Answer<T>>,
  meaning: (answer: Answer<T>) => M,
): Promise<M> {
  try {
    return meaning(await answer);
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(
      `The answer cannot be understood (${String(error)}). The outcome of the command is unknown: look at the state.`,
      exitCodes.unknown,
    );
  }
}

/** The value of an answer. A refusal ends the command, with an exit code and the next step. */
export function valueOrEnd<T>(answer: Answer<T>, asked: Asked = {}): T {
  if (answer.ok) return answer.value;
  throw refusal(answer.problem, { ...asked, retryAfterMs: answer.retryAfterMs });
}

/**
 * Whether a failure ends by itself: nobody answers, a proxy answers in place of the interface, or the interface is not
 * ready or throttles log-ins, as while a gateway restarts.
 */
export function isPassing(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  const { status, code } = (error.cause ?? {}) as Partial<Problem>;
  const isOfAnother = status !== undefined && typeof code !== 'string';
  return isOfAnother || status === 503 || status === 429 || isUnreachable(error);
}

/** The message of a failure, for the terminal: that of another error can have a part of the answer. */
export function messageOf(error: Error): string {
  return error instanceof CommandError ? error.message : safeText(error.message);
}

function isUnreachable(error: Error): boolean {
  return error instanceof CommandError && error.exitCode === exitCodes.unreachable;
}

/** An entity tag as a user copies it: a shell would take the double quotes away. */
export function shownTag(etag: string): string {
  return safeText(etag.replace(/^(?:W\/)?"(.*)"$/, '$1'));
}

/** The entity tag that a user has given, with or without its double quotes. */
export function givenTag(text: string): string {
  return text === '*' || text.endsWith('"') ? text : `"${text}"`;
}

/** The change that was asked for. */
interface Asked {
  /** The change in words. */
  readonly title?: string;
  readonly subject?: Subject;
  /** What to do about a fault of what was given. */
  readonly remedy?: string;
  /** What was asked for; left out if nothing was to change. */
  readonly act?: string;
}

/** What is known of a refusal besides its problem. */
interface Refused extends Asked {
  readonly retryAfterMs?: number | undefined;
}

/** The end of a command that was refused. */
export function refusal(problem: Problem, { title, ...known }: Refused = {}): CommandError {
  const { code, status, errors = [] } = problem;
  if (typeof code !== 'string') throw new Error('the problem has no code', { cause: problem });
  const faults = errors.length < 2 ? [] : errors.map((fault) => `\n  ${faultText(ownFault(fault))}`);
  // The faults of a deletion do not name what is deleted, and a document deletes several resources.
  const isListed = faults.length > 0 && !(code === 'resource-in-use' && known.remedy !== undefined);
  const what = safeText(`${textOf(problem, isListed, title)} (${code})`);
  const text = [what, ...nextStep(problem, known).map((step) => ` ${safeText(step)}`), ...faults].join('');
  if (code === 'outcome-unknown') return new CommandError(text, exitCodes.unknown, problem);
  if (code === 'partly-done') return new CommandError(text, exitCodes.partlyDone, problem);
  const isNotAllowed = status === 401 || status === 403;
  return new CommandError(text, isNotAllowed ? exitCodes.notAllowed : exitCodes.refused, problem);
}

/** A fault with its place in the command: the text of the problem names the command of a sequence. */
function ownFault({ pointer, ...fault }: Fault): Fault {
  return { ...fault, pointer: pointer.replace(/^\/commands\/\d+\/body(?=\/)/, '') };
}

/**
 * The problem in words. Of a command of a sequence, the resource comes first. The detail names the first fault, so a
 * list of faults has the title in its place, and the change.
 */
function textOf({ detail, title }: Problem, hasFaults: boolean, change?: string): string {
  const [whole = '', path = '', own = ''] = partOfSequence(detail);
  const place = whole === '' ? '' : `${path}: `;
  if (!hasFaults) return `${place}${withoutHttp(whole === '' ? detail : own, title)}`;
  return change === undefined
    ? `${place}${title}`
    : `Refused: ${change}. ${place}${title}. Nothing was changed.`;
}

/** The path of a command of a sequence, and its own detail, in the detail of the sequence; none otherwise. */
function partOfSequence(detail: string): readonly (string | undefined)[] {
  return /^Command \d+ \([A-Z]+ (\S+)\): ([^]*)$/.exec(detail) ?? [];
}

/** What only programs that send requests themselves understand. */
const http =
  /\b(?:GET|HEAD|POST|PUT|PATCH|DELETE) \/|\b[a-z_]+=true\b|\bIf-(?:None-)?Match\b|\bContent-Type\b|\bheaders? [A-Z]/;

/** A detail without the sentences that speak of HTTP. If the first one does, the title stands for it. */
function withoutHttp(detail: string, title: string): string {
  const [first = '', ...others] = detail.split(/(?<=\.) /);
  const kept = others.filter((sentence) => !http.test(sentence));
  return [http.test(first) ? `${title}.` : first, ...kept].join(' ');
}

function nextStep(problem: Problem, { act = '', subject, remedy, retryAfterMs }: Refused): readonly string[] {
  const { code, command = '', detail, status } = problem;
  const own = status === 422 || status === 413 ? remedy : undefined;
  const step = own ?? (Object.hasOwn(nextSteps, code) ? nextSteps[code as ProblemCode] : undefined);
  const [, path = ''] = partOfSequence(detail);
  // What was to be created is not there.
  const isThere = code !== 'effect-refused' || !act.includes('.create');
  const { look = 'status', name = 'NAME' } = isThere ? (subjectAt(path) ?? subject ?? {}) : {};
  const words: Readonly<Record<string, string>> = { COMMAND: command, LOOK: look, SUBJECT: name };
  const steps = step === undefined ? [] : [step.replace(/[A-Z]{4,}/, (word) => words[word] ?? word)];
  if (remedy === undefined && isInList(problem))
    steps.push('With --detach, delete takes the resource out of all lists.');
  // Of a command that may have been carried out, only the state tells whether to send it again.
  const isKnown = code !== 'outcome-unknown';
  if (!isKnown || retryAfterMs === undefined || !Number.isFinite(retryAfterMs)) return steps;
  const again = `Try again in ${String(Math.ceil(retryAfterMs / 1000))} s.`;
  return step === later ? [again] : [again, ...steps];
}

/** Whether a resource is not deleted because lists have it. */
function isInList({ code, detail, errors = [] }: Problem): boolean {
  const texts = [detail, ...errors.map((fault) => fault.detail)];
  return code === 'resource-in-use' && texts.some((text) => unquoted(text).includes('is listed by the '));
}

/** A text without the names in it. */
function unquoted(text: string): string {
  return text.replace(/"[^"]*"/g, '');
}

const later = 'Try again in a few seconds. If that does not help, look at the log of the gateway.';
const correctPatch = 'Correct what is named. Try: gateway-admin help create, or gateway-admin help patch';
const correctOptions = 'Correct the options. Try: gateway-admin help';
const look = 'Look at the present values: gateway-admin LOOK';
const otherVersion = 'The interface may be of another version. Try: gateway-admin show interface';

type Absent = Extract<ProblemCode, `${keyof typeof kinds}-not-found`>;

const absent = Object.fromEntries(
  Object.keys(kinds)
    .map((word) => [`${word}-not-found`, `Try: gateway-admin list ${word}s`] as const)
    .filter(([code]) => Object.hasOwn(problemTable, code)),
) as Readonly<Record<Absent, string>>;

/**
 * What a user of the program does next, for each problem. COMMAND is the id of the command in flight, SUBJECT the name
 * of the resource that the change is about, and LOOK the arguments that show the resource.
 */
const nextSteps = {
  'body-missing': otherVersion,
  'body-encoding-invalid': otherVersion,
  'body-not-json': otherVersion,
  'body-duplicate-key': correctPatch,
  'body-too-deep': correctPatch,
  'number-out-of-range': correctPatch,
  'path-encoding-invalid': otherVersion,
  'session-id-invalid': 'Try: gateway-admin list sessions',
  'range-invalid': correctOptions,
  'fields-invalid': correctOptions,
  'query-invalid': correctOptions,
  'header-invalid': 'Give --if-match the entity tag as gateway-admin show prints it.',
  'patch-malformed': correctPatch,
  'pointer-invalid': correctPatch,
  unauthenticated: 'Try: --user NAME --password-file FILE',
  forbidden: 'Or log in as another user: --user NAME',
  'read-only': 'An administrator ends this mode. Try: gateway-admin release',
  'origin-refused': 'Give --url the IP address of the gateway, or let its host allow the name.',
  ...absent,
  'listener-not-found': 'Try: gateway-admin LOOK',
  'command-not-found': 'Try: gateway-admin commands',
  'entry-not-found': 'Try: gateway-admin history',
  'route-not-found': otherVersion,
  'method-not-allowed': otherVersion,
  'body-timeout': later,
  'patch-path-missing': look,
  'patch-test-failed': look,
  'user-exists': 'Try: gateway-admin user password SUBJECT',
  'resource-exists': 'Look at the present one: gateway-admin LOOK',
  'resource-in-use': 'End each use that is named.',
  'not-supported': 'Do what the answer names instead.',
  'last-user': 'Try: gateway-admin user add NAME',
  'last-administrator': 'Add another administrator first: gateway-admin user add NAME',
  'command-in-progress':
    'Try: gateway-admin commands, and if the gateway hangs: gateway-admin abandon COMMAND',
  'command-not-abandonable': 'Try: gateway-admin commands',
  'document-empty': 'If no resource is to be left, say --allow-empty beside --prune.',
  'undo-refused': 'Look at the later changes: gateway-admin history',
  'node-alive': 'End the process of the node, and give --url another node.',
  'effect-refused': 'Look at the state: gateway-admin LOOK',
  'partly-done': 'Look at what is done: gateway-admin LOOK. Then send the rest.',
  'precondition-failed':
    'Another command has changed the resource. Its values and its entity tag are new: gateway-admin LOOK',
  'content-too-large': 'Send a smaller patch.',
  'uri-too-long': correctOptions,
  'unsupported-media-type': otherVersion,
  'validation-failed': 'Correct each named value.',
  'field-not-modifiable': correctPatch,
  'field-unknown': correctPatch,
  'field-write-only': correctPatch,
  'op-not-allowed': correctPatch,
  'reserved-key': correctPatch,
  'link-unresolved': 'Try: gateway-admin list servers, or gateway-admin list filters',
  'parameter-not-configurable': 'Only the gateway itself changes this parameter.',
  'password-unacceptable': 'Choose another password.',
  'secret-not-storable': 'Ask the operator of the gateway.',
  'patch-too-many-operations': 'Give fewer operations.',
  'patch-result-too-large': 'Give a shorter value.',
  'login-throttled': later,
  internal: 'Look at the log of the gateway, and at the state before you try again: gateway-admin LOOK',
  'method-unknown': otherVersion,
  overloaded: later,
  'audit-unavailable': later,
  fenced: 'Look at the nodes and at the state: gateway-admin list nodes',
  'node-outdated': 'Give --url another node. Try: gateway-admin list nodes',
  'node-behind': 'Try: gateway-admin retry',
  'store-unavailable': 'Try: gateway-admin status',
  closed: later,
  'not-ready': later,
  'outcome-unknown': 'Try: gateway-admin commands',
} as const satisfies Readonly<Record<ProblemCode, string>>;

/** A fault in a line. */
function faultText({ pointer, detail }: Fault): string {
  return safeText(withoutHttp(`${pointer}: ${detail}`, pointer));
}
