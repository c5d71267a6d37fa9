/**
 * The page about the endpoints: each with a command of curl, and the answer of a running interface to it.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { stopService, type Admin, type ProblemCode } from 'gateway-admin-core';
import { createNodeHandler } from 'gateway-admin-core/node';

import { runFor } from '../contract/problem-code.ts';
import { targetOf, type Endpoint } from '../contract/endpoint.ts';
import { rows } from '../openapi/example.ts';
import { codesOf } from '../openapi/problem-code.ts';
import { tagDescriptions } from '../openapi/description.ts';
import { transports } from '../support/transport.ts';
import { documentChapters } from './document.ts';
import { endpointGroups } from './endpoint-group.ts';
import { httpBlock } from './http-block.ts';
import { boundRoutes, isSequence, roles, type BoundRoute } from './tables.ts';

/** Where the commands on the page send their requests. */
export const address = 'http://localhost:8989';

/** A request on the page. */
export interface Example {
  readonly endpoint: Pick<Endpoint, 'path'>;
  readonly method: string;
  readonly target: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly stream?: boolean;
}

type Answer = Parameters<typeof httpBlock>[0];

const head = `# Endpoints

Every endpoint with a command of \`curl\`, and the answer of a running interface to that command. Each command meets the same
gateway document, so no command depends on an earlier one. To try a command on the example gateway (\`npm start\`), replace
the names by those of the example.

- A 2xx answer to a command means that the gateway has applied the change. A 4xx answer means that nothing changed, with
  one exception: [\`partly-done\`](errors.md#partly-done) says how many parts are done. A 504 means that the outcome is
  not known yet; see [What an answer means](runtime.md#what-an-answer-means).
- If the interface is mounted under a path, put the path into each URL: \`http://127.0.0.1:8989/admin/services\`. Links in
  answers are relative to the interface: \`/servers/db-1\` then stands for \`http://127.0.0.1:8989/admin/servers/db-1\`.
- In a path, a name has a hyphen for each white space character, and upper and lower case are the same. The name
  of a node of a fleet is compared exactly.
- With a log-in, add \`-u NAME\` to each command. \`curl\` asks for the password.
- \`HEAD\` is served wherever \`GET\` is, and \`OPTIONS\` on every path.
- Every answer has \`Cache-Control: no-store\` and \`X-Content-Type-Options: nosniff\`. The answers below leave out these and
  the headers of the connection. Bodies are shown on several lines, and are sent on one. Ids of events and commands are
  others in each run of the gateway.

This page is written by \`npm run pages\` from the table of routes and a running interface. A test runs each command with
\`curl\` and compares the answer. To generate a client or a console, use the [OpenAPI document](openapi.md).
`;

const ofSample = { path: '/services' };
const limit = '[{"op":"replace","path":"/max_connection","value":50}]';
const patchType = { 'content-type': 'application/json-patch+json' };

/** What all endpoints have in common, each with an example. */
const common: readonly (Omit<Example, 'endpoint'> & { readonly title: string; readonly text: string })[] = [
  {
    title: 'Preview a command',
    text: `With \`dry_run=true\`, nothing is changed. The answer is the plan of the command: its events, its effects, and how many
sessions would close or stay. Every endpoint that changes something takes \`dry_run\`. The plan has a \`mark\`: with
\`mark=…\`, the same command does what the plan showed, or is refused with 412 and the plan of now.
[Preview a command](runtime.md#preview-a-command) explains the plan.`,
    method: 'PUT',
    target: '/service/My-Service/stop?dry_run=true',
  },
  {
    title: 'Change only what you have read',
    text: `Send the \`etag\` of an earlier answer as \`If-Match\`. If the resource has changed since then, the answer is a 412, and nothing
is changed.`,
    method: 'PATCH',
    target: '/services/My-Service',
    headers: { ...patchType, 'if-match': '"vqbvtaPYkDIHgDdHvDhthg.sample-9"' },
    body: limit,
  },
  {
    title: 'Ask whether something has changed',
    text: `Send the \`etag\` of an earlier answer as \`If-None-Match\`. While the representation is the same, the answer is a 304 without a
body. Endpoints whose answers have no \`etag\` show numbers that change by themselves.`,
    method: 'GET',
    target: '/services/My-Service',
    headers: { 'if-none-match': '"7UjwT_4_j5u958oVe4vLYw.sample-0"' },
  },
  {
    title: 'Select fields',
    text: `\`fields\` lists the fields that you want. Some fields are shown only if you name them: the \`etag\` of a session, and the
\`session\`, \`user\` and \`address\` of a connection.`,
    method: 'GET',
    target: '/services/My-Service?fields=name,state,current_connections',
  },
  {
    title: 'See which commands are possible',
    text: `With \`may=true\`, the endpoint of one resource also lists the commands at its path and below, and says whether you may use
each of them now. [Show what a caller may do](embedding.md#show-what-a-caller-may-do) explains the list.`,
    method: 'GET',
    target: '/filters/Hint?may=true',
  },
  {
    title: 'Read a part of a list',
    text: `\`range\` is the first and the last position, counted from 0. \`x-total-count\` is the length of the whole list, and \`link\` has
the neighbouring ranges. Sessions come and go: \`GET /sessions?after=28&range=0-99\` gives the first 100 sessions after the
id 28.`,
    method: 'GET',
    target: '/servers?range=1-1&fields=name,status',
  },
  {
    title: 'Take a document over',
    text: `Send a [gateway document](document.md), or a part of one, to \`POST /document\`. Its servers, services, monitors and filters
are created, changed, started and stopped in one command, with one mark, one entry of the history and one undo.

- What the document lacks stays: a kind without a list, a resource without an entry, the listeners of a service without
  the member, and secrets. With \`prune=true\`, the resources without an entry are deleted, of the kinds that have a list.
- An entry describes its resource whole: a setting that the entry lacks is removed or gets its default, and a service or
  monitor without \`state\` is started.
- A link can name a resource of the document, or one in use.
- A secret in plain text is sealed and written. Sealed text is refused, and so are users. Other parts are ignored: the
  notes of the plan name them.
- \`only=services,filters\` compares these kinds alone. With \`services,listeners\`, also the listeners of services.
- A document that would leave no resource at all is a 409 \`document-empty\`, unless \`allow_empty=true\` is given.
- The limits are \`maxDocumentBytes\` and \`maxDocumentValues\`; an entry has at most 1 MiB. Of more than 100 changes, a plan
  and the history show the first 100, and \`count\` has the number of events of each type. \`GET /history/:id\` has all of
  them, or those of a \`range\`.`,
    method: 'POST',
    target: '/document?dry_run=true',
    headers: { 'content-type': 'application/json' },
    body: '{"monitors":[{"name":"Idle Monitor","module":"pgmon","monitor_interval":5000}]}',
  },
  {
    title: 'Read an error',
    text: `Every answer from 400 on is a problem. Base decisions on \`code\`, and read \`detail\`. [errors.md](errors.md) explains each code.`,
    method: 'PATCH',
    target: '/services/My-Service',
    headers: patchType,
    body: '[{"op":"replace","path":"/max_connection","value":-1}]',
  },
];

const tags = tagDescriptions();

/** The routes, tag by tag. */
const ordered = Object.keys(tags).flatMap((tag) => boundRoutes.filter((route) => tagOf(route) === tag));

/** Every example on the page, in order. */
export const examples: readonly Example[] = [
  ...common.map((each) => ({ endpoint: ofSample, ...each })),
  ...ordered.map(exampleOf),
];

/** Writes the whole page. */
export async function httpPage(): Promise<string> {
  const blocks = await Promise.all(examples.map(blockOf));
  const chapters = ordered.flatMap((route, at) => {
    const tag = tagOf(route);
    const isFirst = at === 0 || tagOf(ordered[at - 1]) !== tag;
    return [...(isFirst ? [titleOf(tag)] : []), section(route), blocks[common.length + at] ?? ''];
  });
  return [
    head,
    '## What all endpoints have in common\n',
    ...common.flatMap(({ title, text }, at) => [`### ${title}\n`, `${text}\n`, blocks[at] ?? '']),
    codesOfAll(),
    rolesOfAll(),
    ...chapters,
  ].join('\n');
}

function titleOf(tag: string): string {
  const title = `${tag.charAt(0).toUpperCase()}${tag.slice(1)}`;
  const fields = documentChapters.includes(title)
    ? ` [document.md](document.md#${tag}) explains the fields.`
    : '';
  return `## ${title}\n\n${tags[tag] ?? ''}${fields}\n`;
}

function tagOf(route: BoundRoute | undefined): string {
  return route?.id.split('.')[0] ?? '';
}

/** The request of the contract tests for a route; of a list, the first element. */
function exampleOf(route: BoundRoute): Example {
  const endpoint = rows.find((row) => row.route === route)?.endpoint;
  if (endpoint === undefined) throw new RangeError(`The contract has no row for ${route.id}`);
  const { body } = endpoint;
  return {
    endpoint,
    method: route.method,
    target: `${targetOf(endpoint)}${route.query.includes('range') ? '?range=0-0' : ''}`,
    ...(body === undefined
      ? {}
      : { headers: { 'content-type': body.type }, body: JSON.stringify(body.json) }),
    stream: route.kind === 'stream',
  };
}

async function blockOf(example: Example): Promise<string> {
  const command = `\`\`\`sh covered-by=tests/docs/http.test.ts\n${curlLine(example)}\n\`\`\`\n`;
  return `${command}\n${httpBlock(await answerTo(example))}`;
}

/** Writes a request as a command of curl. */
function curlLine({ method, target, headers = {}, body, stream }: Example): string {
  const url = `${address}${target}`;
  const words = [
    stream === true ? 'curl -iN' : 'curl -i',
    ...(method === 'GET' ? [] : [`-X ${method}`]),
    /[?&%]/.test(url) ? quoted(url) : url,
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`-d ${quoted(body)}`]),
  ];
  return words
    .join(words.length > 4 ? ' \\\n  ' : ' ')
    .replace(/^(curl \S+) \\\n {2}(-X \w+) \\\n {2}/, '$1 $2 ');
}

/** A word for a shell. */
function quoted(text: string): string {
  if (text.includes("'")) throw new RangeError(`A quotation mark is in ${text}`);
  return `'${text}'`;
}

async function answerTo(example: Example): Promise<Answer> {
  const { admin } = await runFor(example.endpoint);
  if (example.stream === true) return streamOf(admin, example);
  const transport = await transports.node(admin);
  const { method, target, ...sent } = example;
  try {
    return await transport.send(method, target, sent);
  } finally {
    await transport.close();
  }
}

async function streamOf(admin: Admin, { target }: Example): Promise<Answer> {
  const server = createServer(createNodeHandler(admin)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const leave = new AbortController();
  try {
    const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}${target}`;
    const { status, headers, body } = await fetch(url, { signal: leave.signal });
    const text = await followed(admin, body?.pipeThrough(new TextDecoderStream()) ?? []);
    return { status, headers: Object.fromEntries(headers), text };
  } finally {
    leave.abort();
    server.closeAllConnections();
    server.close();
  }
}

/**
 * Reads a stream up to the first event. The event happens when the stream has begun.
 *
 * @returns the text, with one and the same life in its ids
 */
export async function followed(
  admin: Admin,
  pieces: AsyncIterable<string> | Iterable<string>,
): Promise<string> {
  let text = '';
  let hasBegun = false;
  for await (const piece of pieces) {
    text += piece;
    if (!hasBegun && text.includes('retry:')) {
      hasBegun = true;
      await admin.execute((snapshot, context) => stopService(snapshot, 'My Service', context), {
        actor: 'ada',
      });
    }
    if (/^data: .*\n\n/m.test(text)) break;
  }
  return text
    .replace(/^id: [0-9a-f]+/gm, 'id: 5f0c8e21a9b3')
    .replace(/"command":"[^"]+"/, '"command":"7f3c9a-12"');
}

/** The codes that all endpoints of a set have in common. */
function sharedBy(has: (route: BoundRoute) => boolean): readonly ProblemCode[] {
  const [first = [], ...others] = boundRoutes.filter(has).map(codesOf);
  return first.filter((code) => others.every((codes) => codes.includes(code)));
}

function codesOfAll(): string {
  const told = new Set<ProblemCode>();
  const lines = endpointGroups.flatMap(([name, has]) => {
    const codes = sharedBy(has).filter((code) => !told.has(code));
    for (const code of codes) told.add(code);
    return codes.length === 0 ? [] : [`- ${name}: ${linksTo(codes)}`];
  });
  return [
    '### Which problems to expect\n',
    'An endpoint lists the problems of its own. These problems can come from more endpoints:\n',
    ...lines,
    '',
  ].join('\n');
}

/** The endpoints of each role. What needs no log-in is in the chapter of the endpoint. */
function rolesOfAll(): string {
  const rows = roles.map((role) => {
    const own = boundRoutes.filter((route) => route.role === role && route.kind !== 'probe');
    const isReading = role === 'reader';
    const listed = own.filter(({ method }) => !isReading || method !== 'GET');
    const names = listed.map(({ method, path }) => `\`${method} ${path}\``);
    return `| \`${role}\` | ${[...(isReading ? ['every `GET`'] : []), ...names].join(', ')} |`;
  });
  return [
    '### Which role may do what\n',
    'With [`createRoles`](embedding.md#say-who-may-do-what), each user has a role, and may also do what the roles above it may do. A dry run\nneeds the role `reader`.\n',
    '| Role | Endpoints |',
    '| --- | --- |',
    ...rows,
    '',
  ].join('\n');
}

function linksTo(codes: readonly ProblemCode[]): string {
  return codes.map((code) => `[${code}](errors.md#${code})`).join(', ');
}

function section(route: BoundRoute): string {
  const { method, path, aliases, summary, role } = route;
  const shared = new Set(endpointGroups.flatMap(([, has]) => (has(route) ? sharedBy(has) : [])));
  const own = isSequence(route) ? [] : codesOf(route).filter((code) => !shared.has(code));
  const takes = [...route.query, ...route.search];
  return [
    `### \`${method} ${path}\`\n`,
    `${summary}\n`,
    route.kind === 'probe' ? '- Role: none. Nobody has to log in.' : `- Role: \`${role}\`.`,
    ...(aliases.length === 0
      ? []
      : [`- Also: ${aliases.map((each) => `\`${method} ${each}\``).join(', ')}.`]),
    ...(takes.length === 0 ? [] : [`- Query: ${takes.map((each) => `\`${each}\``).join(', ')}.`]),
    ...(own.length === 0 ? [] : [`- Problems: ${linksTo(own)}.`]),
    ...(isSequence(route) ? [`- Problems: ${linksTo(['op-not-allowed'])}, and those of its commands.`] : []),
    '',
  ].join('\n');
}
