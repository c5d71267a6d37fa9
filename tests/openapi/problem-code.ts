/**
 * Problem codes: which codes each route can answer with. The codes follow from what a route is and has; a table
 * has those that follow from nothing else.
 */
import { problemTable, type ProblemCode } from 'gateway-admin-core';

import { boundRoutes, isAction, isSequence, type BoundRoute, type Field } from '../docs/tables.ts';
import { definedBy, patchedBy, ref, type Members } from './component.ts';

/** The headers of the answers with a problem. */
const headerNames: Readonly<Record<string, readonly string[]>> = {
  '401': ['WWW-Authenticate'],
  '409': ['Retry-After'],
  '415': ['Accept', 'Accept-Patch'],
  '429': ['Retry-After'],
  '503': ['Retry-After'],
  '504': ['Retry-After'],
};

/** A fact about routes, and the codes that follow from it. */
type Rule = readonly [holds: (route: BoundRoute) => boolean, codes: readonly ProblemCode[]];

const rules: readonly Rule[] = [
  [() => true, ['query-invalid', 'origin-refused', 'uri-too-long']],
  [isProbe, ['not-ready']],
  [(route) => !isProbe(route), ['header-invalid', 'unauthenticated', 'forbidden', 'login-throttled']],
  [(route) => !isProbe(route), ['overloaded', 'internal']],
  [({ path }) => path.includes(':'), ['path-encoding-invalid']],
  [({ path }) => path.startsWith('/sessions/:id'), ['session-id-invalid']],
  [({ query }) => query.includes('range'), ['range-invalid']],
  [({ query }) => query.includes('fields'), ['fields-invalid']],
  [hasConditions, ['precondition-failed']],
  [isCommand, ['audit-unavailable', 'closed', 'store-unavailable']],
  [(route) => isCommand(route) && !('worksReadOnly' in route), ['read-only']],
  [isResourceCommand, ['command-in-progress', 'outcome-unknown']],
  [asksHost, ['effect-refused']],
  [isResourceCommand, ['node-outdated']],
  [isShared, ['node-behind', 'fenced']],
  [hasBody, ['body-encoding-invalid', 'body-not-json', 'body-duplicate-key', 'body-too-deep']],
  [(route) => hasBody(route) && route.mayLackBody !== true, ['body-missing']],
  [hasBody, ['number-out-of-range', 'body-timeout', 'content-too-large', 'unsupported-media-type']],
  [hasBody, ['validation-failed', 'field-unknown']],
  [isPatch, ['patch-malformed', 'pointer-invalid', 'patch-too-many-operations']],
  [isPatch, ['patch-path-missing', 'patch-test-failed', 'op-not-allowed', 'reserved-key']],
  [isPatch, ['field-not-modifiable']],
  [(route) => patches(route, ({ secret }) => secret === undefined), ['patch-result-too-large']],
  [(route) => patches(route, ({ links }) => links !== undefined), ['link-unresolved']],
  [(route) => defines(route, () => true), ['resource-exists', 'reserved-key', 'not-supported']],
  [(route) => defines(route, ({ links }) => links !== undefined), ['link-unresolved']],
  [(route) => defines(route, isSeen), ['field-not-modifiable']],
  [
    (route) => defines(route, ({ secret, secretEntries }) => (secret ?? secretEntries) !== undefined),
    ['password-unacceptable', 'secret-not-storable'],
  ],
  [isDeletion, ['resource-in-use', 'not-supported']],
  [({ id }) => id === 'services.deleteListener' || id.endsWith('.drain'), ['not-supported']],
  [
    (route) => patches(route, ({ secret, secretEntries }) => (secret ?? secretEntries) !== undefined),
    ['field-write-only', 'password-unacceptable'],
  ],
  [
    (route) =>
      asksHost(route) &&
      patches(route, ({ secret, secretEntries }) => (secret ?? secretEntries) !== undefined),
    ['secret-not-storable'],
  ],
];

/** The codes that follow from nothing else, by the name of the endpoint. */
const ownCodes: Readonly<Record<string, readonly ProblemCode[]>> = {
  'filters.patch': ['parameter-not-configurable'],
  'services.create': ['partly-done'],
  'services.closeSessions': ['partly-done'],
  'servers.closeConnections': ['partly-done'],
  'sessions.closeMany': ['service-not-found', 'server-not-found', 'partly-done'],
  'monitors.create': ['partly-done'],
  'users.create': ['user-exists', 'password-unacceptable'],
  'users.delete': ['last-user', 'last-administrator'],
  'commands.abandon': ['command-not-abandonable'],
  'history.undo': ['undo-refused', 'partly-done'],
  'history.restore': ['undo-refused', 'partly-done'],
  'document.adopt': [
    ...(['reserved-key', 'op-not-allowed', 'link-unresolved', 'resource-in-use', 'document-empty'] as const),
    ...(['password-unacceptable', 'secret-not-storable', 'not-supported', 'partly-done'] as const),
  ],
  'fleet.retry': ['node-not-found'],
  'fleet.forget': ['node-not-found', 'node-alive'],
};

/** Whether a route answers everybody with its status alone. */
function isProbe({ kind }: BoundRoute): boolean {
  return kind === 'probe';
}

/** Whether a route compares entity tags. */
function hasConditions({ kind }: BoundRoute): boolean {
  return kind !== 'probe' && kind !== 'stream';
}

/** Whether a route changes something. */
export function isCommand({ kind }: BoundRoute): boolean {
  return kind === 'command';
}

/** Whether a route changes the gateway, not only the running interface. */
export function isResourceCommand(route: BoundRoute): boolean {
  return isCommand(route) && !isAction(route);
}

/** The host knows nothing of admin users and of the interface itself. */
function asksHost(route: BoundRoute): boolean {
  return isResourceCommand(route) && !/^(?:users|interface)\./.test(route.id);
}

/** Whether the nodes of a fleet share what a route changes, and each of them asks its gateway. */
function isShared(route: BoundRoute): boolean {
  return (
    asksHost(route) &&
    /\.(?:patch|start|stop|(?:set|clear)Maintenance|(?:create|delete)(?:Listener)?|undo|restore|adopt)$/.test(
      route.id,
    )
  );
}

/** Whether a route reads the body. */
export function hasBody({ mediaTypes }: BoundRoute): boolean {
  return mediaTypes.length > 0;
}

/** Whether a route takes a JSON Patch. */
export function isPatch({ method }: BoundRoute): boolean {
  return method === 'PATCH';
}

/** Whether a route patches a field of which something holds. */
function patches(route: BoundRoute, holds: (field: Field) => boolean): boolean {
  return patchedBy(route)?.all.some((field) => field.setting !== undefined && holds(field)) === true;
}

/** Whether a route creates a resource with a field of which something holds. */
function defines(route: BoundRoute, holds: (field: Field) => boolean): boolean {
  return asksHost(route) && definedBy(route)?.all.some(holds) === true;
}

/** Whether a document may have the value of a field, and a definition may not. */
function isSeen(field: Field): boolean {
  if (field.patched === false) return true;
  return field.derived === true ? field.accepts !== undefined : (field.seen ?? field.wanted) !== undefined;
}

/** Whether a route deletes a resource of the gateway. */
function isDeletion(route: BoundRoute): boolean {
  return asksHost(route) && route.id.endsWith('.delete');
}

/**
 * The code for a name or id of a resource that names nothing: `/services/:name` and `/service/:name/stop` name a
 * service.
 */
function notFound({ path }: BoundRoute): readonly ProblemCode[] {
  const [, kind] = /^\/(\w+?)s?\/:(?!node)/.exec(path) ?? [];
  if (kind === 'history') return ['entry-not-found'];
  const part: readonly ProblemCode[] = path.endsWith('/:listener') ? ['listener-not-found'] : [];
  return kind === undefined ? part : [`${kind}-not-found` as ProblemCode, ...part];
}

/** The routes that a sequence takes commands of: each can refuse its command with each of its codes. */
function partsOf(route: BoundRoute): readonly BoundRoute[] {
  const isTaken = (each: BoundRoute): boolean =>
    isResourceCommand(each) &&
    !('takes' in each) &&
    each.id !== 'sessions.closeMany' &&
    !each.path.startsWith('/history/');
  return isSequence(route) ? boundRoutes.filter(isTaken) : [];
}

/** The problem codes of a route, in the order of the table of problems. */
export function codesOf(route: BoundRoute): readonly ProblemCode[] {
  const own = ownCodes[route.id] ?? [];
  const codes = new Set([
    ...notFound(route),
    ...own,
    ...partsOf(route).flatMap(codesOf),
    ...rules.flatMap(([holds, codes]) => (holds(route) ? codes : [])),
  ]);
  return (Object.keys(problemTable) as ProblemCode[]).filter((code) => codes.has(code));
}

/** The problems that a route answers with one status. */
interface Refusals {
  readonly status: string;
  readonly codes: readonly ProblemCode[];
  /** Whether a rule of the host (`veto`) can also refuse, with a code of the host. */
  readonly orOfHost: boolean;
}

const hostStatuses: readonly string[] = ['409', '422'];

function refusalsOf(route: BoundRoute): readonly Refusals[] {
  const codes = codesOf(route);
  const statusOf = (code: ProblemCode): string => String(problemTable[code].status);
  const ofHost = isResourceCommand(route) ? hostStatuses : [];
  return [...new Set([...codes.map(statusOf), ...ofHost])].map((status) => ({
    status,
    codes: codes.filter((code) => statusOf(code) === status),
    orOfHost: ofHost.includes(status),
  }));
}

/** Routes with the same refusals share a response. It has the name of its only code, or of the first route. */
const names = new Map<string, string>();
const shared = new Map<string, Members>();
for (const route of boundRoutes)
  for (const refusals of refusalsOf(route)) {
    const key = JSON.stringify(refusals);
    if (names.has(key)) continue;
    const [only, ...more] = refusals.codes;
    const isOnly = only !== undefined && more.length === 0 && !refusals.orOfHost;
    const name = isOnly ? only : `${route.id}-${refusals.status}`;
    names.set(key, name);
    shared.set(name, response(refusals));
  }

/** The responses with a problem that routes refer to. */
export const problemResponses: Members = Object.fromEntries(shared);

/** The responses of a route with a problem, by status. */
export function problemsOf(route: BoundRoute): Members {
  return Object.fromEntries(
    refusalsOf(route).map((refusals) => [
      refusals.status,
      ref('responses', names.get(JSON.stringify(refusals)) ?? ''),
    ]),
  );
}

function response({ status, codes, orOfHost }: Refusals): Members {
  const known = { type: 'string', enum: codes };
  const ofHost = { type: 'string', pattern: '^host(?:-[a-z0-9]+)+$' };
  const code = !orOfHost ? known : codes.length === 0 ? ofHost : { anyOf: [known, ofHost] };
  const titles = codes.map((each) => problemTable[each].title);
  const examples = codes.map((each) => [each, ref('examples', each)]);
  return {
    description: [...titles, ...(orOfHost ? ['A rule of the host refuses the command'] : [])].join('. '),
    headers: headersOf(status),
    content: {
      'application/problem+json': {
        schema: {
          allOf: [ref('schemas', 'Problem')],
          type: 'object',
          properties: { status: { const: Number(status) }, code },
        },
        examples: Object.fromEntries(examples) as Members,
      },
    },
  };
}

function headersOf(status: string): Members {
  const names = [...(headerNames[status] ?? []), 'Fleet-Node'];
  return Object.fromEntries(names.map((name) => [name, ref('headers', name)]));
}
