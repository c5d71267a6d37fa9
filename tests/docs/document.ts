/**
 * The page about the gateway document: every field, from the tables of fields and the comments of the interfaces, and
 * what is refused, from `createSnapshot`.
 */
import { createSnapshot, InvalidDocumentError, type GatewayDocument } from 'gateway-admin-core';
import type * as z from 'zod/mini';

import { documentDescriptions } from '../openapi/description.ts';
import { sampleDocument } from '../support/document.ts';
import { inDocument, schemaOf, type Overridden, type Schema } from './document-schema.ts';
import { fieldTables, mostLinks, shape, type Field } from './tables.ts';

const head = `# The gateway document

A gateway document describes a gateway as plain JSON. \`createSnapshot\` makes the first state of the interface from the
document, and \`toDocument\` writes a state as a document. This page has every field.

- Every part is optional, and so is every field without "required".
- Names, links and fields are those of the answers of the interface. [patching.md](patching.md#find-the-field-to-patch) says
  which fields clients can change.
- A time is an ISO 8601 instant with an offset, whatever form the answers have. A "text ≤ 255" has at most 255 characters.
- In a path, \`*\` is each item of a list, or each member of an object with names of your own.
- "Parameters" are at most 1,000 by name, each a number, true or false, a text ≤ 4,096, or \`{ "sealed": TEXT }\`.
- A link is \`/servers/<name>\` or the same with another collection, and must name a resource of the document.
- Without a store, write what changes into the document yourself; with a store, read
  [When the document and the store differ](runtime.md#when-the-document-and-the-store-differ).
- No answer shows a field with "**Secret.**", and a store does not keep one with "Not stored."
- Keep the file as safe as the configuration of the gateway: it has password hashes and sealed secrets.

## The smallest document

One service, and its server:

`;

/** A document of a gateway with one service. */
const smallest: GatewayDocument = {
  servers: [{ name: 'db-1', address: '10.0.0.1', port: 5432, protocol: 'pgbackend' }],
  services: [{ name: 'Sales', router: 'readconnroute', servers: ['/servers/db-1'] }],
};

const { gateway = {}, logs = {} } = sampleDocument;

/** A document with every field. */
const complete: GatewayDocument = {
  format: 2,
  gateway: { ...gateway, started: '2026-01-01T00:00:00+00:00' },
  logs: { ...logs, last_flushed: '2026-01-01T06:00:00+00:00' },
  threads: {
    load_average: { historic: 1.05, current: 1, '1min': 0.5, '5min': 0.25, '15min': 0.1 },
    threads: [{ id: 0, state: 'processing', file_descriptors: 1, event: ['in', 'out'], run_time: 300 }],
  },
  tasks: [{ name: 'Load Average', type: 'repeated', frequency: 10, next_due: '2026-01-01T12:00:10+00:00' }],
  modules: [
    { name: 'readconnroute', type: 'Router', version: 'V1.1.0', api_version: '1.0.0', maturity: 'GA' },
  ],
  servers: [
    {
      name: 'db-1',
      address: '10.0.0.1',
      port: 5432,
      protocol: 'pgbackend',
      status: ['master', 'running'],
      status_reason: 'not in recovery',
      status_since: '2026-01-01T11:00:00+00:00',
      parameters: { report_weight: 10, token: { sealed: 'v1.sealed' } },
      drain: {
        since: '2026-01-01T11:00:00+00:00',
        timeout: 600,
        until: '2026-01-01T11:10:00+00:00',
        then: 'close',
        reason: 'new kernel',
        by: 'ada',
      },
    },
  ],
  services: [
    {
      name: 'Sales',
      router: 'readconnroute',
      router_options: { router_options: 'master', token: { sealed: 'v1.sealed' } },
      state: 'failed',
      state_reason: 'port 4006 is in use',
      state_since: '2026-01-01T11:00:00+00:00',
      started: '2026-01-01T00:00:01+00:00',
      total_connections: 10,
      servers: ['/servers/db-1'],
      filters: ['/filters/Hint'],
      user: 'service_user',
      password: { sealed: 'v1.sealed' },
      root_user: false,
      version_string: '9.6-gateway',
      weightby: 'report_weight',
      connection_timeout: 300,
      max_connection: 100,
      strip_db_esc: true,
      listeners: [
        {
          name: 'Sales Listener',
          protocol: 'pgclient',
          address: '127.0.0.1',
          port: 4006,
          ssl: 'required',
          ssl_cert: '/etc/gateway/cert.pem',
          ssl_key: '/etc/gateway/key.pem',
          ssl_ca_cert: '/etc/gateway/ca.pem',
          parameters: { tcp_keepalive: true, token: { sealed: 'v1.sealed' } },
        },
        { name: 'Local Listener', protocol: 'pgclient', address: '/run/gateway/sales.sock' },
      ],
    },
    {
      name: 'Reports',
      router: 'readconnroute',
      state: 'stopped',
      drain: {
        since: '2026-01-01T11:00:00+00:00',
        timeout: 600,
        until: '2026-01-01T11:10:00+00:00',
        then: 'resume',
        reason: 'old version',
        by: 'ada',
        from: 'started',
      },
    },
  ],
  monitors: [
    {
      name: 'Main Monitor',
      module: 'pgmon',
      state: 'failed',
      state_reason: 'cannot log in',
      state_since: '2026-01-01T11:00:00+00:00',
      servers: ['/servers/db-1'],
      monitor_interval: 2500,
      connect_timeout: 5,
      read_timeout: 4,
      write_timeout: 3,
      parameters: { lag_limit: 30, token: { sealed: 'v1.sealed' } },
    },
  ],
  filters: [
    {
      name: 'Hint',
      module: 'hintfilter',
      parameters: {
        match: { value: 'select', configurable: true },
        token: { value: { sealed: 'v1.sealed' }, configurable: true },
      },
    },
  ],
  users: [{ name: 'ada', password: { sealed: '$pbkdf2-sha256$i=600000$…' } }],
  sessions: [
    {
      id: 9,
      state: 'Session ready for routing',
      user: 'alice',
      address: '10.0.0.9',
      service: '/services/Sales',
      connected: '2026-01-01T10:00:00+00:00',
      idle: 42,
      connections: [
        {
          id: 0,
          state: 'In use',
          role: 'Master',
          server: '/servers/db-1',
          statistics: { reads: 5, writes: 4, buffered_writes: 3, high_water_events: 2, low_water_events: 1 },
        },
      ],
    },
  ],
};

/** A chapter: where its objects are in a document, and the name of their table of fields. */
type Chapter = readonly [title: string, path: string, table: string];

const chapters: readonly Chapter[] = [
  ['Gateway', 'gateway', 'instance'],
  ['Logging', 'logs', 'logging'],
  ['Threads', 'threads', 'thread information'],
  ['Tasks', 'tasks.*', 'task'],
  ['Modules', 'modules.*', 'module'],
  ['Servers', 'servers.*', 'server'],
  ['Services', 'services.*', 'service'],
  ['Listeners', 'services.*.listeners.*', 'listener'],
  ['Monitors', 'monitors.*', 'monitor'],
  ['Filters', 'filters.*', 'filter'],
  ['Users', 'users.*', 'user'],
  ['Sessions', 'sessions.*', 'session'],
  ['Connections', 'sessions.*.connections.*', 'connection'],
];

/** The titles of the chapters. */
export const documentChapters: readonly string[] = chapters.map(([title]) => title);

type Texts = Readonly<Record<string, string>>;

/** Writes the whole page. */
export function documentPage(): string {
  const texts = documentDescriptions();
  const members = membersOf(schemaOf(withWords));
  return [
    `${head}${jsonBlock(smallest)}`,
    '## A complete document\n\nEvery field:\n',
    jsonBlock(complete),
    checking,
    '## Load a document\n',
    loading,
    refusals(),
    '## The parts\n',
    ...['$schema', 'format'].map((part) => `- \`${part}\`: ${texts[part] ?? ''}`),
    '- The other parts have a chapter each.\n',
    ...chapters.map((each) => chapter(each, members, texts)),
  ].join('\n');
}

const checking = `## Check a document

The package has a JSON Schema of the document. With its place in \`$schema\`, which \`createSnapshot\` ignores, an editor
completes the fields, and marks faults while you write:

${jsonBlock({ $schema: './node_modules/gateway-admin-core/gateway-document.schema.json', servers: [] })}
The schema also accepts a link to nothing, or two resources with the same name.
[\`gateway-admin check FILE\`](command-line.md#check-a-document) finds every fault, and asks no gateway.
`;

const loading = `\`createSnapshot\` refuses a document with faults as a whole, and lists every fault:

\`\`\`ts
import { createSnapshot, InvalidDocumentError, toDocument, type GatewayDocument } from 'gateway-admin-core';

const text = '{ "services": [{ "name": "Sales", "router": "readconnroute" }] }'; // the text of your file
try {
  const snapshot = createSnapshot(JSON.parse(text) as GatewayDocument);
  toDocument(snapshot).services?.[0]?.name; // => 'Sales'
} catch (error) {
  if (!(error instanceof InvalidDocumentError)) throw error;
  console.error(error.message); // every fault, on a line of its own
}
\`\`\`
`;

function jsonBlock(value: object): string {
  return `\`\`\`json\n${JSON.stringify(value)}\n\`\`\`\n`;
}

function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [header, header.map(() => '---'), ...rows];
  return `${lines.map((line) => `| ${line.join(' | ')} |`).join('\n')}\n`;
}

/** Documents with one fault each. */
const faulty: readonly (readonly [what: string, document: object])[] = [
  ['a member that does not exist', { services: [{ name: 'Sales', router: 'cli', routers: [] }] }],
  ['a required field that is missing', { services: [{ name: 'Sales' }] }],
  ['a value of another form', { servers: [{ ...smallest.servers?.[0], port: 0 }] }],
  ['a link to nothing', { services: [{ name: 'Sales', router: 'cli', servers: ['/servers/db-9'] }] }],
  ['a secret in plain text', { services: [{ name: 'Sales', router: 'cli', password: 'secret' }] }],
  [
    'two names that are the same',
    {
      filters: [
        { name: 'Hint', module: 'a' },
        { name: 'hint', module: 'b' },
      ],
    },
  ],
  ['a key that programs treat in a special way', JSON.parse('{"__proto__":{}}') as object],
  ['a time without an offset', { gateway: { started: '2026-01-01T00:00:00' } }],
  ['[a document of a version before 0.1](upgrade.md#what-01-does-not-read)', { format: 1 }],
  [
    'a connection that names another service than its session',
    {
      services: [
        { name: 'A', router: 'cli' },
        { name: 'B', router: 'cli' },
      ],
      servers: smallest.servers,
      sessions: [
        {
          ...complete.sessions?.[0],
          service: '/services/A',
          connections: [{ state: '', role: '', server: '/servers/db-1', service: '/services/B' }],
        },
      ],
    },
  ],
];

function refusals(): string {
  const rows = faulty.map(([what, document]) => {
    const { pointer, code, detail } = faultOf(document);
    return [what, `[\`${code}\`](errors.md#${code})`, `\`${pointer}\` ${detail}`];
  });
  return [
    'What is refused, with an example of each:\n',
    table(['In the document', 'Code', 'Pointer and sentence'], rows),
    'A [secret parameter](patching.md#keep-a-parameter-secret) in plain text is refused too. [Seal a secret](command-line.md#write-secrets-into-a-document) to write it into a document.\n',
  ].join('\n');
}

function faultOf(document: GatewayDocument): InvalidDocumentError['faults'][number] {
  try {
    createSnapshot(document);
  } catch (error) {
    if (error instanceof InvalidDocumentError && error.faults[0] !== undefined) return error.faults[0];
    throw error;
  }
  throw new RangeError(`This document is not refused: ${JSON.stringify(document)}`);
}

const words = new Map<z.core.$ZodType, string>([
  [shape.name, 'name: 1 to 255 characters'],
  [shape.address, 'address'],
  [shape.instant, 'time'],
  [shape.links, `list of at most ${mostLinks.toLocaleString('en-US')} links`],
  [shape.sealableOptions, 'parameters, each a text or sealed'],
  [shape.sealableParameters, 'parameters'],
]);

/** Says in words what JSON Schema cannot. */
function withWords({ zodSchema, jsonSchema }: Overridden): void {
  const told = words.get(zodSchema);
  if (told !== undefined) Object.assign(jsonSchema, { words: told });
}

/** A field by its path in the document; `*` is each item of a list or map. */
interface Member {
  readonly path: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
}

function membersOf(schema: Schema, path = ''): readonly Member[] {
  // The first alternative is the form of the answers.
  const [first] = schema.anyOf ?? [];
  if (first !== undefined) return membersOf(first, path);
  const item =
    schema.items ?? (schema.additionalProperties === false ? undefined : schema.additionalProperties);
  if (item !== undefined) return membersOf(item, `${path}.*`);
  if (sealedIn(schema) !== undefined) return [];
  return Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
    const here = path === '' ? name : `${path}.${name}`;
    const isRequired = schema.required?.includes(name) === true;
    return [{ path: here, schema: member, isRequired }, ...membersOf(member, here)];
  });
}

/** The text of a secret, if a value is one. */
function sealedIn({ properties }: Schema): Schema | undefined {
  return properties?.['sealed'];
}

/** The chapter of a path, and the path within its objects. */
function placeOf(path: string): readonly [chapter: Chapter | undefined, rest: string] {
  const chapter = chapters
    .filter(([, prefix]) => path.startsWith(`${prefix}.`))
    .toSorted(([, a], [, b]) => b.length - a.length)[0];
  return [chapter, chapter === undefined ? path : path.slice(chapter[1].length + 1)];
}

function chapter(own: Chapter, members: readonly Member[], texts: Texts): string {
  const [title, path, name] = own;
  const part = path.replace('.*', '');
  const rows = members
    .filter((member) => placeOf(member.path)[0] === own)
    .map((member) => {
      const rest = placeOf(member.path)[1];
      const field = fieldTables[name]?.all.find(({ name: own }) => own === rest);
      const links = field?.links === undefined ? '' : ` of \`${field.links}\``;
      return [
        `\`${rest}\``,
        `${formOf(member.schema)}${links}${defaultOf(member, field)}`,
        meaningOf(member, field, texts),
      ];
    });
  return [
    `## ${title}\n`,
    `Path: \`${path}\`\n`,
    ...(texts[part] === undefined ? [] : [`${texts[part]}\n`]),
    table(['Field', 'Value', 'Meaning'], rows),
  ].join('\n');
}

/** The form of a value in words. */
function formOf(schema: Schema): string {
  const { type, maxLength, minimum = -Infinity, maximum = Infinity } = schema;
  if (schema.words !== undefined) return schema.words;
  const sealed = sealedIn(schema);
  if (sealed !== undefined) return `\`{ "sealed": TEXT }\`, ${formOf(sealed)}`;
  if (schema.enum !== undefined) return schema.enum.map((each) => `\`${each}\``).join(', ');
  if (schema.anyOf !== undefined) return schema.anyOf.map(formOf).join(', or ');
  if (schema.items !== undefined) return `list of ${pluralOf(schema.items)}`;
  if (type === 'string') return maxLength === undefined ? 'text' : `text ≤ ${numeral(maxLength)}`;
  if (type === 'boolean') return 'boolean';
  if (type === 'integer') return `whole number${boundsOf(minimum, maximum)}`;
  if (typeof schema.additionalProperties === 'object')
    return `at most ${numeral(shape.mostMembers)} by name, each ${formOf(schema.additionalProperties)}`;
  return type ?? 'any value';
}

function pluralOf(schema: Schema): string {
  return schema.type === 'object' ? 'objects' : formOf(schema).replace(/^text/, 'texts');
}

function boundsOf(minimum: number, maximum: number): string {
  const least = minimum > Number.MIN_SAFE_INTEGER ? ` from ${numeral(minimum)}` : '';
  return maximum < Number.MAX_SAFE_INTEGER ? `${least} to ${numeral(maximum)}` : least;
}

function numeral(value: number): string {
  return value.toLocaleString('en-US');
}

function defaultOf({ isRequired }: Member, field: Field | undefined): string {
  if (isRequired || field?.required !== undefined) return '; required';
  const value: unknown = field?.default;
  const isEmpty = typeof value === 'object' && value !== null;
  return value === undefined || isEmpty ? '' : `; default \`${JSON.stringify(value)}\``;
}

/** The comment of the interface, and what the table of fields says about secrets and stores. */
function meaningOf({ path }: Member, field: Field | undefined, texts: Texts): string {
  const told = texts[path] ?? '';
  return [
    field?.shape === shape.instant ? inDocument(told) : told,
    ...(field?.secret === undefined ? [] : ['**Secret.**']),
    ...(field?.seen === true ? ['Not stored.'] : []),
  ].join(' ');
}
