/**
 * The page about problems: each code with its meaning, the next step, the endpoints that answer with it, and an answer
 * of a running interface.
 */
import {
  adoptDocument,
  createSnapshot,
  problemTable,
  type Decision,
  type ProblemCode,
} from 'gateway-admin-core';

import { problemAnswers } from '../openapi/example.ts';
import { codesOf } from '../openapi/problem-code.ts';
import { sampleSnapshot } from '../support/document.ts';
import { runAdmin } from '../support/running-admin.ts';
import { transports } from '../support/transport.ts';
import { endpointGroups } from './endpoint-group.ts';
import { httpBlock } from './http-block.ts';
import { boundRoutes, isSequence, type BoundRoute } from './tables.ts';

const head = `# Problems

Every answer from 400 on is a problem (RFC 9457) with a \`code\`. This page has a section for each code: its meaning, the
next step of a client, the endpoints that answer with the code, and an answer of a running interface.

- Base decisions on \`code\`. The code, its status and its title do not change. \`detail\` is for people, and may change.
- The last word of \`type\` is the code, and the code is the anchor of its section on this page. For example,
  \`urn:problem-type:gateway-admin:last-user\` leads to [#last-user](#last-user).
- After a 4xx the configuration is as before. Only [effect-refused](#effect-refused) has called the gateway. The one
  exception is [partly-done](#partly-done), which says how many parts are done.
- \`errors\` lists the single faults, each with a \`pointer\` to its place, a \`code\` and a \`detail\`. If the faults have
  different codes, the problem is [validation-failed](#validation-failed), or [patch-malformed](#patch-malformed) for the
  form of a patch.
- \`POST /sequence\` answers with the problem of the command that was refused. The detail begins with the command.
- \`Retry-After\` says after how many seconds the same request can succeed.

[spec-choices.md](spec-choices.md#33-problems) has the rules. A program finds statuses and titles in \`problemTable\` of
\`gateway-admin-core\`.

This page is written by \`npm run pages\` from the table of problems, the table of routes and a running interface. The
answers leave out the headers that every answer has.
`;

const unusual = `## Accepted, although unusual

- A byte order mark in front of a body.
- A body on a request that needs none; the body is ignored. The header \`X-HTTP-Method-Override\` is ignored too.
- A patch without operations, and operations that cancel each other: the answer is 200, and nothing changes.
- Members of an operation that RFC 6902 does not define; they are ignored.
- A name in other letters, such as \`mY%20sERVICE\` for \`My Service\`: see
  [When two names are the same](spec-choices.md#1-when-two-names-are-the-same).
- A \`types\` of \`GET /events\` that no event has.
`;

const ofHost = `## Codes of the host

A gateway can have a rule of its own (\`veto\`), which refuses commands with codes of its own. Such a code begins with
\`host-\`, for example \`host-business-hours\`, and has no section here. The status is 409 if the state of the gateway forbids
the command, and 422 if the content of the command is wrong. Nothing was changed. Read \`detail\`, or ask the operator of the
gateway. To write such a rule, read [embedding.md](embedding.md#write-a-rule-of-your-own).
`;

/** What a code means, and what a client does next. */
interface Text {
  readonly meaning: string;
  readonly next: string;
}

const notThere =
  'Read the list that `detail` names. Another client may have removed the resource, or the name is misspelt.';

const texts: Readonly<Record<ProblemCode, Text>> = {
  'body-missing': {
    meaning: 'The endpoint needs a body, and the body is empty.',
    next: 'Send a JSON value.',
  },
  'body-encoding-invalid': {
    meaning: 'The bytes of the body are not UTF-8.',
    next: 'Encode the body as UTF-8.',
  },
  'body-not-json': {
    meaning: 'The body is not JSON. `detail` names the first character that does not fit.',
    next: 'Send JSON. Comments, trailing commas and single quotes are not JSON.',
  },
  'body-duplicate-key': {
    meaning: 'An object of the body names a member twice, so two programs could read two values.',
    next: 'Send each member once.',
  },
  'body-too-deep': {
    meaning: 'Arrays and objects of the body are nested deeper than `maxBodyDepth`.',
    next: 'Send a flatter value. No resource needs this depth.',
  },
  'number-out-of-range': {
    meaning: 'A number of the body is not finite, or is an integer that a program cannot read exactly.',
    next: 'Send integers from -(2^53 - 1) to 2^53 - 1.',
  },
  'path-encoding-invalid': {
    meaning: 'The path has a percent sign that does not begin an escape of UTF-8.',
    next: 'Encode the names in the path, for example with `encodeURIComponent`.',
  },
  'session-id-invalid': {
    meaning: 'The id of a session in the path is not a whole number.',
    next: 'Take the id from `GET /sessions`.',
  },
  'range-invalid': {
    meaning: 'The parameter `range` is not of the form `<first>-<last>`, or ends before it begins.',
    next: 'Send positions from 0 on, such as `range=0-9` for the first ten elements.',
  },
  'fields-invalid': {
    meaning: 'The parameter `fields` is empty, or names a field that the resource does not have.',
    next: 'Send names of fields with commas between them. `detail` lists the names.',
  },
  'query-invalid': {
    meaning:
      'The query has a parameter that this endpoint does not know, a parameter twice, a wrong value, or a broken escape.',
    next: 'Send only the parameters that `detail` lists.',
  },
  'header-invalid': {
    meaning: 'A header of the request is malformed.',
    next: 'Send the header in the form that `detail` shows. Send an entity tag with its quotes, as the answer had it.',
  },
  'patch-malformed': {
    meaning: 'The body is JSON, but not a JSON Patch (RFC 6902).',
    next: 'Send an array of operations, each with `op`, `path`, and `value` or `from` where the operation needs them.',
  },
  'pointer-invalid': {
    meaning: 'A `path` or `from` is not a JSON Pointer (RFC 6901), or is too long.',
    next: 'Begin a pointer with `/`. In a name, write `~1` for `/` and `~0` for `~`.',
  },
  unauthenticated: {
    meaning: 'The interface needs a log-in, and the request has no valid one.',
    next: 'Send the credentials of an admin user. A program must not retry with the same credentials.',
  },
  forbidden: {
    meaning: 'The caller is logged in, but may not do this.',
    next: 'Ask an administrator of the gateway for the permission. [http.md](http.md) names the role of each endpoint.',
  },
  'read-only': {
    meaning: 'An administrator has made the interface read-only for a while.',
    next: 'Wait, or end the mode with `PATCH /`. `GET /` shows the mode.',
  },
  'origin-refused': {
    meaning:
      'A web page of another origin sent the command, or the name in `Host` is not one of the gateway.',
    next:
      'Let the host add the origin to `allowedOrigins`, or the name to `allowedHosts`; see ' +
      '[Keep other web pages out](embedding.md#keep-other-web-pages-out).',
  },
  'service-not-found': { meaning: 'No service has this name.', next: notThere },
  'server-not-found': { meaning: 'No server has this name.', next: notThere },
  'listener-not-found': { meaning: 'The service has no listener of this name.', next: notThere },
  'monitor-not-found': { meaning: 'No monitor has this name.', next: notThere },
  'filter-not-found': { meaning: 'No filter has this name.', next: notThere },
  'session-not-found': {
    meaning: 'No open session has this id.',
    next: 'If you wanted to close the session, the session has ended. Otherwise read `GET /sessions`.',
  },
  'user-not-found': { meaning: 'No admin user has this name.', next: notThere },
  'node-not-found': {
    meaning: 'The fleet knows no node with exactly this name, or the gateway runs alone.',
    next: 'Read `GET /fleet`. If you wanted to take the node out, the node is out already.',
  },
  'command-not-found': {
    meaning: 'No command with this id is in flight.',
    next: 'Read the events: an event with this id says how the command ended.',
  },
  'entry-not-found': {
    meaning: 'The history has no entry with this id.',
    next: 'List the entries with `GET /history`: the last 1,000, and the last change of each member.',
  },
  'route-not-found': {
    meaning: 'The interface has no such path.',
    next: 'Check the base path at which the gateway mounts the interface. [http.md](http.md) lists the paths.',
  },
  'method-not-allowed': {
    meaning: 'The path exists, but not with this method.',
    next: 'Use a method of the header `Allow`.',
  },
  'body-timeout': {
    meaning: 'The body did not arrive within `bodyDeadlineMs`.',
    next: 'Send the request again. If the answer stays the same, look at the network or the proxy.',
  },
  'patch-path-missing': {
    meaning: 'The patch names a place that the resource does not have at the moment.',
    next: 'Read the resource again, and adapt the patch. To create a member, use `add`.',
  },
  'patch-test-failed': {
    meaning: 'A `test` of the patch found another value: another client has changed the resource.',
    next: 'Read the resource again, decide again, and send a new patch.',
  },
  'user-exists': {
    meaning: 'An admin user has this name already. Upper and lower case are the same.',
    next: 'Choose another name, or change the password of the existing user with `PATCH /users/:name`.',
  },
  'resource-exists': {
    meaning: 'Another resource of the kind has the name, and differs from the one in the body.',
    next: 'Change the other one with `PATCH`, or choose another name.',
  },
  'resource-in-use': {
    meaning:
      'Something uses the resource. `errors` names each list that has it, what runs, and what is open.',
    next: 'Take the resource out of the lists, or send `detach=true`; stop or close the rest. Then delete again.',
  },
  'not-supported': {
    meaning: 'The gateway cannot create, delete or drain while it runs. It was not asked.',
    next: 'Do what `detail` names instead. A gateway with a store takes a changed document over only with `adopt`.',
  },
  'listener-of-node': {
    meaning:
      'In a fleet: the listener is in the document of the node. Another node listens at an address of its own.',
    next: 'Change the document of the node, and start the node again.',
  },
  'last-user': {
    meaning: 'Without the last admin user, nobody could log in.',
    next: 'Create another user first.',
  },
  'command-in-progress': {
    meaning: 'The outcome of an earlier command on the same resource is unknown. `command` is its id.',
    next:
      'Wait, and send the command again. If the answer stays the same, read ' +
      '[What is in flight](runtime.md#what-is-in-flight).',
  },
  'node-behind': {
    meaning:
      'In a fleet: another node has changed the resource, and the gateway of this node has not followed yet. `detail` says why.',
    next: 'Wait, and send the command again; or send it to another node, or undo the change there.',
  },
  'not-ready': {
    meaning:
      'The interface takes no commands: it is closed, its store does not answer, or audit records are not kept. Or the gateway is ' +
      'starting, and its interface does not run yet.',
    next: 'Send the request again after the seconds in `Retry-After`. If that does not help, read [See what is wrong](runtime.md#see-what-is-wrong).',
  },
  'node-outdated': {
    meaning:
      'In a fleet: other nodes have a later version of the library, and the log has records that this node cannot read.',
    next: 'Send the command to another node, and update this one.',
  },
  fenced: {
    meaning:
      'In a fleet: this node was silent for so long that the other nodes ended its command. The gateway of this node is undoing the command.',
    next: 'Read the resource, and send the command again.',
  },
  'command-not-abandonable': {
    meaning: 'The caller of the command still waits for the outcome, so the command cannot be abandoned.',
    next: 'Wait for the answer of the command.',
  },
  'document-empty': {
    meaning:
      'A document that is taken over with `prune` would leave no server, service, monitor or filter. Perhaps the ' +
      'program that wrote the document found nothing.',
    next:
      'Look at the document. To delete everything, execute `adoptDocument` with `allowEmpty: true`; see ' +
      '[When the document and the store differ](runtime.md#when-the-document-and-the-store-differ).',
  },
  'undo-refused': {
    meaning:
      'A later change stands in the way, the entry was undone already, or it closes or flushes something, or ' +
      'changes a user.',
    next: 'Look at the later entry: the member `command` has its id. Undo that one first, or make the change by hand.',
  },
  'node-alive': {
    meaning: 'A node that may be alive is not taken out of the fleet.',
    next: 'End the process of the node, wait until the lease is over, and send the request again, to another node.',
  },
  'effect-refused': {
    meaning: 'The gateway refused the change, or the change failed and is not in place. Nothing was changed.',
    next: 'Read `detail`: it has the reason of the gateway. Remove the cause, and send the command again.',
  },
  'partly-done': {
    meaning:
      'The gateway refused the change after a part of it was done that cannot be undone. `detail` says how many parts are ' +
      'done.',
    next: 'Read the resource. Remove the cause in `detail`, and send a command for the rest.',
  },
  'precondition-failed': {
    meaning: 'The resource has changed since you read the entity tag in `If-Match`.',
    next: 'Read the resource again, decide again, and send the command with the new entity tag.',
  },
  'content-too-large': {
    meaning: 'The body has more than `maxBodyBytes` bytes, or more than `maxBodyValues` values.',
    next: 'Send several smaller requests.',
  },
  'uri-too-long': {
    meaning: 'Path and query have more than `maxTargetBytes` bytes.',
    next: 'Shorten the query. [limits.md](limits.md#requests) has the limit.',
  },
  'unsupported-media-type': {
    meaning: 'The body has no `Content-Type`, another one than the endpoint takes, or a `Content-Encoding`.',
    next: 'Send the type in `Accept-Patch` or `Accept`, and do not compress the body.',
  },
  'validation-failed': {
    meaning: 'The request is well formed, but a value is not valid, or there are faults of several codes.',
    next: 'Correct every fault in `errors`. [document.md](document.md) has the form of each field.',
  },
  'field-not-modifiable': {
    meaning: 'The patch changes a field that clients can only read.',
    next: 'Change only the fields that `detail` lists. [patching.md](patching.md#find-the-field-to-patch) has them too.',
  },
  'field-unknown': { meaning: 'The resource has no such field.', next: 'Use a field that `detail` lists.' },
  'field-write-only': {
    meaning: 'The patch reads or compares a secret, which would reveal the secret.',
    next: 'Use `add`, `replace` or `remove` on the whole secret, without `test`, `copy` or `move`.',
  },
  'op-not-allowed': {
    meaning:
      'The operation is not possible at this place: the whole resource, or a move into its own child. Or a sequence has a ' +
      'command that no sequence takes, or one before its end that cannot be undone.',
    next: 'Name a field in `path`. Send the command of the sequence in a request of its own, or as the last command.',
  },
  'reserved-key': {
    meaning: '`__proto__`, `constructor` or `prototype` is in a pointer or is a key.',
    next: 'Use another name.',
  },
  'link-unresolved': {
    meaning: 'A link names no existing resource, is not of the form `/servers/<name>`, or is repeated.',
    next: 'Take the links from the list that `detail` names.',
  },
  'parameter-not-configurable': {
    meaning: 'The gateway document says that this parameter of the filter cannot be changed.',
    next: 'Leave the parameter. Only the gateway document can change it.',
  },
  'password-unacceptable': {
    meaning: 'A password is empty, too long, has control characters, or is not a text.',
    next: 'Choose a password of 1 to 1024 bytes without control characters.',
  },
  'secret-not-storable': {
    meaning:
      'The store outlives the process, and the key that seals secrets does not: the secret would be lost.',
    next: 'Let the host configure a lasting key; see [Sealer](ports.md#sealer).',
  },
  'patch-too-many-operations': {
    meaning: 'The patch has more operations than allowed.',
    next: 'Send several patches.',
  },
  'patch-result-too-large': {
    meaning: 'After an operation, the resource would be too large.',
    next: 'Store less in the resource.',
  },
  'login-throttled': {
    meaning: 'Too many passwords wait to be checked.',
    next: 'Wait as long as `Retry-After` says, and send the request again.',
  },
  internal: {
    meaning: 'The library, or a function of the host, has thrown an error.',
    next: 'After a command, read the resource before you send the command again. The host finds the error in `onError`.',
  },
  'method-unknown': { meaning: 'HTTP has no such method.', next: 'Use a method of the header `Allow`.' },
  overloaded: {
    meaning:
      'Too many commands wait for their turn, too many clients read the events, or a log-in, a new password or a new ' +
      'secret took too long.',
    next: 'Send the request again, with growing pauses. The operator looks for the resource whose effects are slow.',
  },
  'audit-unavailable': {
    meaning: 'The gateway requires audit records, and the records of earlier commands are not kept.',
    next:
      'Wait as long as `Retry-After` says. If the answer stays the same, read ' +
      '[When audit records cannot be kept](runtime.md#when-audit-records-cannot-be-kept).',
  },
  'store-unavailable': {
    meaning: 'The configuration store does not answer.',
    next:
      'Wait as long as `Retry-After` says. Without `Retry-After`, the gateway must be restarted; read ' +
      '[When the store fails](runtime.md#when-the-store-fails).',
  },
  closed: {
    meaning:
      'The interface was closed, or the client disconnected, before the command began or its body had arrived. In a fleet: ' +
      'another process has begun under the name of this node.',
    next: 'Send the command again when the interface is running again. In a fleet, end one of the two processes.',
  },
  'outcome-unknown': {
    meaning:
      'The gateway did not say in time whether the change was made. `command` is the id of the command.',
    next: 'Do not repeat the command blindly. Read [After a 504](runtime.md#after-a-504).',
  },
};

/** The requests that get the codes of no endpoint. */
const elsewhere: Readonly<Partial<Record<ProblemCode, readonly [method: string, path: string]>>> = {
  'route-not-found': ['GET', '/nothing'],
  'method-not-allowed': ['PUT', '/services'],
  'method-unknown': ['PURGE', '/services'],
};

/** The decisions of programs with the codes that no endpoint answers with. */
const ofPrograms: Readonly<Partial<Record<ProblemCode, () => Decision>>> = {
  'document-empty': () => {
    const nothing = createSnapshot({ servers: [], services: [], monitors: [], filters: [] });
    return adoptDocument(sampleSnapshot(), nothing, { now: 0 }, { prune: true });
  },
};

/** Writes the whole page. */
export async function errorsPage(): Promise<string> {
  const answers = new Map([...(await problemAnswers()), ...(await answersElsewhere())]);
  const codes = Object.keys(problemTable) as ProblemCode[];
  const statuses = [...new Set(codes.map((code) => problemTable[code].status))];
  const chapters = statuses.flatMap((status) => [
    `## Status ${String(status)}\n`,
    ...codes
      .filter((code) => problemTable[code].status === status)
      .map((code) => section(code, answers.get(code))),
  ]);
  return [head, ...chapters, unusual, ofHost].join('\n');
}

type Answer = Parameters<typeof httpBlock>[0];

async function answersElsewhere(): Promise<readonly (readonly [ProblemCode, Answer])[]> {
  const { send } = await transports.fetch(runAdmin().admin);
  const requests = Object.entries(elsewhere) as [ProblemCode, [string, string]][];
  const answers = requests.map(async ([code, request]) => [code, await send(...request)] as const);
  return Promise.all(answers);
}

function section(code: ProblemCode, answer: Answer | undefined): string {
  const { meaning, next } = texts[code];
  return [
    `### ${code}\n`,
    `**${problemTable[code].title}.** ${meaning}\n`,
    `- Next step: ${next}\n- Answered by: ${sendersOf(code)}.\n`,
    answer === undefined ? problemBlock(code) : httpBlock(answer),
  ].join('\n');
}

/** The problem of a decision, for a code that no endpoint answers with. */
function problemBlock(code: ProblemCode): string {
  const decision = ofPrograms[code]?.();
  if (decision?.outcome !== 'refused') throw new RangeError(`Nothing answers with ${code}`);
  return ['```json', JSON.stringify(decision.problem, undefined, 2), '```\n'].join('\n');
}

/** The endpoints that answer with a code: their list, or a named set with its exceptions, whichever is shorter. */
function sendersOf(code: ProblemCode): string {
  if (code === 'not-ready') return '`GET /ready`, and every path while the gateway is starting';
  if (elsewhere[code] !== undefined) return 'requests that belong to no endpoint';
  if (ofPrograms[code] !== undefined) return '`adoptDocument` in a program, and no endpoint';
  const routes = boundRoutes.filter((route) => !isSequence(route));
  const all = routes.filter((route) => codesOf(route).includes(code));
  const ways = endpointGroups.flatMap(([name, has]) => {
    const named = routes.filter(has);
    const others = named.filter((route) => !all.includes(route));
    return all.every((route) => named.includes(route)) ? [{ name, others }] : [];
  });
  const [best] = ways.toSorted((a, b) => a.others.length - b.others.length);
  if (best === undefined || best.others.length >= all.length) return listOf(all);
  return best.others.length === 0 ? best.name : `${best.name}, except ${listOf(best.others)}`;
}

function listOf(routes: readonly BoundRoute[]): string {
  return routes.map(({ method, path }) => `\`${method} ${path}\``).join(', ');
}
