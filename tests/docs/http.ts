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
import { codesOf, isPatch } from '../openapi/problem-code.ts';
import { tagDescriptions } from '../openapi/description.ts';
import { transports } from '../support/transport.ts';
import { documentChapters } from './document.ts';
import { endpointGroups } from './endpoint-group.ts';
import { httpBlock } from './http-block.ts';
import { boundRoutes, isSequence, type BoundRoute } from './tables.ts';

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

Every endpoint with a command of \`curl\`, and the answer of a running interface. A test runs each command. All commands meet
the same gateway document, so none depends on an earlier one. To try one on the example gateway (\`npm start\`), replace the
names. To generate a client or a console, use the [OpenAPI document](openapi.md).

- [What an answer means](runtime.md#what-an-answer-means) explains 2xx, 4xx and 504.
- If the interface is mounted under a path, put the path into each URL: \`http://127.0.0.1:8989/admin/services\`. Links in
  answers are relative to the interface: \`/servers/db-1\` then stands for \`http://127.0.0.1:8989/admin/servers/db-1\`.
- In a path, a name has a hyphen for each white space character, and upper and lower case are the same. The name
  of a node of a fleet is compared exactly.
- With a log-in, add \`-u NAME\` to each command. \`curl\` asks for the password.
- \`HEAD\` is served wherever \`GET\` is, and \`OPTIONS\` on every path.
- The answers below leave out the headers of the connection, and \`Cache-Control: no-store\` and
  \`X-Content-Type-Options: nosniff\`, which every answer has. Bodies are sent on one line. Ids of events and commands are
  others in each run.
`;

const ofSample = { path: '/services' };
const limit = '[{"op":"replace","path":"/max_connection","value":50}]';
const patchType = { 'content-type': 'application/json-patch+json' };

/** What all endpoints have in common, each with an example. */
const common: readonly (Omit<Example, 'endpoint'> & { readonly title: string; readonly text: string })[] = [
  {
    title: 'Preview a command',
    text: `Every endpoint that changes something takes \`dry_run\` and \`mark\`. With \`dry_run=true\`, nothing is changed, and the answer is
the [plan](plan-and-undo.md#plan-a-command): the events, the effects, and how many sessions would close or stay. With the \`mark\`
of the plan, \`mark=…\`, the same command does what the plan showed, or is refused with 412 and the plan of now.`,
    method: 'PUT',
    target: '/service/My-Service/stop?dry_run=true',
  },
  {
    title: 'Change only what you have read',
    text: `Send the \`etag\` of an earlier answer as \`If-Match\`. If the resource has changed since then, nothing is changed.`,
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
    text: `With \`may=true\`, the endpoint of one resource also lists the commands at its path and below, and
[whether you may use each of them now](embedding.md#show-what-a-caller-may-do).`,
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
    title: 'Read an error',
    text: `Every answer from 400 on is a problem. Base decisions on its [\`code\`](errors.md), and read \`detail\`.`,
    method: 'PATCH',
    target: '/services/My-Service',
    headers: patchType,
    body: '[{"op":"replace","path":"/max_connection","value":-1}]',
  },
];

/** What an endpoint does in detail, where no other page says it. */
const details: Readonly<Record<string, string>> = {
  'document.adopt': `Send a [gateway document](document.md), or a part of one. Its servers, services, monitors and filters are created, changed,
started and stopped in one command, with one mark, one entry of the history and one undo.

- What the document lacks stays: a kind without a list, a resource without an entry, the listeners of a service without
  the member, and secrets. With \`prune=true\`, the resources without an entry are deleted, of the kinds that have a list.
- An entry describes its resource whole: a setting that the entry lacks is removed or gets its default, and a service or
  monitor without \`state\` is started.
- A link can name a resource of the document, or one in use.
- A secret in plain text is sealed. Sealed text is refused, and so are users. Other parts are ignored: the notes of the plan
  name them.
- \`only=services,filters\` compares these kinds alone. With \`services,listeners\`, also the listeners of services.
- A document that would leave no resource at all is refused, unless \`allow_empty=true\` is given.
- The limits are \`maxDocumentBytes\` and \`maxDocumentValues\`; an entry has at most 1 MiB. Of more than 100 changes, a plan
  and the history show the first 100, and \`count\` has the number of events of each type. \`GET /history/:id\` has all of
  them, or those of a \`range\`.
`,
};

const tags = tagDescriptions();

/** The routes, tag by tag. */
const ordered = Object.keys(tags).flatMap((tag) => boundRoutes.filter((route) => tagOf(route) === tag));

/** Of the lists whose elements another endpoint shows whole, the fields on the page. */
const shortened: Readonly<Record<string, string>> = {
  'services.list': 'name,state',
  'servers.list': 'name,status',
  'monitors.list': 'name,state',
  'filters.list': 'name,module',
};

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
  const fields = shortened[route.id];
  const part = route.query.includes('range') ? '?range=0-0' : '';
  return {
    endpoint,
    method: route.method,
    target: `${targetOf(endpoint)}${part}${fields === undefined ? '' : `&fields=${fields}`}`,
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

/** Whether an endpoint can answer with a problem. */
function answersWith(code: ProblemCode): (route: BoundRoute) => boolean {
  return (route) => codesOf(route).includes(code);
}

/** The sets of endpoints, and smaller ones that have a name on this page alone. */
const groups: typeof endpointGroups = [
  ...endpointGroups,
  [
    'every endpoint that changes something but `PATCH /`, `DELETE /commands/:id` and those of the fleet',
    answersWith('read-only'),
  ],
  ['every endpoint that asks the gateway', answersWith('effect-refused')],
  ['in a fleet, every endpoint that changes the configuration', answersWith('fenced')],
  ['every endpoint that creates a resource', ({ id }) => /^(?!users).*\.create(?:Listener)?$/.test(id)],
  ['every endpoint that deletes a resource', ({ id }) => /^(?!users).*\.delete$/.test(id)],
  ['every `PATCH` of a resource', (route) => isPatch(route) && route.path.includes(':')],
];

/** The codes that all endpoints of a set have in common. */
function sharedBy(has: (route: BoundRoute) => boolean): readonly ProblemCode[] {
  const [first = [], ...others] = boundRoutes.filter(has).map(codesOf);
  return first.filter((code) => others.every((codes) => codes.includes(code)));
}

function codesOfAll(): string {
  const told = new Set<ProblemCode>();
  const lines = groups.flatMap(([name, has]) => {
    const codes = sharedBy(has).filter((code) => !told.has(code));
    for (const code of codes) told.add(code);
    return codes.length === 0 ? [] : [`- ${name}: ${linksTo(codes)}`];
  });
  return [
    '### Which problems to expect\n',
    'An endpoint lists the problems of its own. These can come from more endpoints:\n',
    ...lines,
    '- every endpoint with a name or an id in its path: the `…-not-found` of its kind',
    '',
  ].join('\n');
}

/** The endpoints of each role. */
function rolesOfAll(): string {
  const own = boundRoutes.filter(({ role, kind }) => role === 'operator' && kind !== 'probe');
  const names = own.map(({ method, path }) => `\`${method} ${path}\``);
  return [
    '### Which role may do what\n',
    'With [`createRoles`](embedding.md#say-who-may-do-what), each user has a role:\n',
    '- `reader`: every `GET`, and every dry run.',
    `- \`operator\`: also ${names.join(', ')}.`,
    '- `administrator`: everything. `POST /sequence` needs the roles of its commands.',
    '',
  ].join('\n');
}

function linksTo(codes: readonly ProblemCode[]): string {
  return codes.map((code) => `[${code}](errors.md#${code})`).join(', ');
}

function section(route: BoundRoute): string {
  const { method, path, aliases, summary, kind, role } = route;
  const shared = new Set(groups.flatMap(([, has]) => (has(route) ? sharedBy(has) : [])));
  const own = isSequence(route) ? (['op-not-allowed'] as const) : codesOf(route);
  const problems = own.filter((code) => !shared.has(code) && !(path.includes(':') && isNotFound(code)));
  const takes = [...route.query, ...route.search].filter((each) => !forCommands.has(each));
  const facts = [
    ...(kind === 'probe' ? ['Nobody has to log in.'] : []),
    ...(role === 'reader' ? [] : [`Role: \`${role}\`.`]),
    ...(aliases.length === 0 ? [] : [`Also ${aliases.map((each) => `\`${method} ${each}\``).join(', ')}.`]),
    ...(takes.length === 0 ? [] : [`Query: ${takes.map((each) => `\`${each}\``).join(', ')}.`]),
    ...(problems.length === 0 ? [] : [`Problems: ${linksTo(problems)}.`]),
  ];
  const more = details[route.id];
  const text = `${[summary, ...facts].join(' ')}\n`;
  return [`### \`${method} ${path}\`\n`, text, ...(more === undefined ? [] : [more])].join('\n');
}

/** The parameters that every command takes. */
const forCommands: ReadonlySet<string> = new Set(['dry_run', 'mark']);

function isNotFound(code: ProblemCode): boolean {
  return code.endsWith('-not-found');
}
