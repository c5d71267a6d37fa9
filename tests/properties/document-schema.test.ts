import { describe, expect, it } from '@jest/globals';
import { Ajv } from 'ajv';
import * as fc from 'fast-check';

import { documents, givenDocuments } from '../support/arbitrary-document.ts';
import { sampleDocument } from '../support/document.ts';
import {
  allFaultsOf,
  connection,
  filter,
  monitor,
  server,
  service,
  session,
  user,
} from '../support/document-entry.ts';
import { read } from '../support/project.ts';

const validate = new Ajv({
  strict: true,
  strictRequired: false,
  allErrors: true,
  allowUnionTypes: true,
}).compile(JSON.parse(read('gateway-document.schema.json')) as object);

/** What a document has that the schema does not allow. */
function breachesOf(document: unknown): readonly string[] {
  validate(document);
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${String(message)}`);
}

type Entry = Record<string, unknown>;

/** One fault in an entry: a member that is missing, unknown, or of another type. */
const harms: readonly (readonly [string, (entry: Entry) => void])[] = [
  ['an unknown member', (entry) => void (entry['surprise'] = 1)],
  ['another type', (entry) => void (entry['id' in entry ? 'id' : 'name'] = [])],
  ['null', (entry) => void (entry['id' in entry ? 'id' : 'name'] = null)],
  ['a missing member', (entry) => Reflect.deleteProperty(entry, 'id' in entry ? 'id' : 'name')],
];

/** Valid documents of which one entry has one fault. */
const harmed = fc
  .tuple(givenDocuments, fc.nat(), fc.constantFrom(...harms))
  .map(([document, at, [, harm]]) => {
    const copy = structuredClone(document) as unknown as Record<string, Entry[]>;
    const lists = ['servers', 'services', 'monitors', 'filters', 'users', 'sessions', 'tasks', 'modules'];
    const entries = lists.flatMap((list) => copy[list] ?? []);
    const nested = entries.flatMap((entry) => (entry['listeners'] ?? []) as Entry[]);
    const all = [...entries, ...nested];
    const entry = all[at % Math.max(all.length, 1)];
    if (entry === undefined) return undefined;
    harm(entry);
    return copy;
  })
  .filter((document) => document !== undefined);

describe('the JSON Schema of the gateway document', () => {
  // Promise: document-schema
  it('accepts every document that createSnapshot accepts, in whatever form', () => {
    expect(breachesOf(sampleDocument)).toEqual([]);
    fc.assert(
      fc.property(fc.oneof(documents, givenDocuments), (document) => {
        expect(breachesOf({ $schema: './gateway-document.schema.json', ...document })).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });

  it('refuses a document with a fault, as createSnapshot does', () => {
    fc.assert(
      fc.property(harmed, (document) => {
        expect(allFaultsOf(document)).not.toEqual([]);
        expect(breachesOf(document)).not.toEqual([]);
      }),
      { numRuns: 100 },
    );
  });

  const { port: _port, ...portless } = server;

  it.each<[string, object]>([
    ['an unknown part', { routers: [] }],
    ['another format', { format: 2 }],
    ['a part of another type', { servers: {} }],
    ['a time without an offset', { gateway: { started: '2026-01-01T00:00:00' } }],
    ['a port out of range', { servers: [{ ...server, port: 0 }] }],
    ['a server without port', { servers: [portless] }],
    ['a word that is no status', { servers: [{ ...server, status: ['down'] }] }],
    ['a parameter that is null', { monitors: [{ ...monitor, parameters: { a: null } }] }],
    [
      'a link of another collection',
      { servers: [server], services: [{ ...service, servers: ['/filters/db'] }] },
    ],
    ['an option that is a number', { services: [{ ...service, router_options: { a: 1 } }] }],
    ['a password in plain text', { services: [{ ...service, password: 'x' }] }],
    ['a listener without port', { services: [{ ...service, listeners: [{ ...portless, protocol: 'p' }] }] }],
    ['a filter parameter without value', { filters: [{ ...filter, parameters: { a: {} } }] }],
    ['a user without hash', { users: [{ name: user.name }] }],
    ['a name that is empty', { servers: [{ ...server, name: '' }] }],
    [
      'a connection without server',
      { services: [service], sessions: [{ ...session, connections: [{ ...connection, server: 7 }] }] },
    ],
  ])('refuses %s', (_what, document) => {
    expect(allFaultsOf(document)).not.toEqual([]);
    expect(breachesOf(document)).not.toEqual([]);
  });
});

describe('the member $schema of a document', () => {
  it('is a text, and changes nothing', () => {
    expect(allFaultsOf({ $schema: 'https://example.test/schema.json', servers: [server] })).toEqual([]);
    expect(allFaultsOf({ $schema: 7 })).toMatchObject([{ pointer: '/$schema' }]);
  });
});
