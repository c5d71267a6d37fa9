/**
 * Patching, against the libraries that people use.
 *
 * The peers keep the promises that ours keeps as far as they can: fast-json-patch validates and copies deeply, so that a
 * patch that fails half-way leaves nothing behind. The documents are frozen on both sides.
 */
import { Ajv } from 'ajv';
import jsonpatch from 'fast-json-patch';
import { produce } from 'immer';
import { immutableJSONPatch } from 'immutable-json-patch';
import * as rfc6902 from 'rfc6902';

import { createSnapshot, patchService } from 'gateway-admin-core';
import { applyPatch } from 'gateway-admin-core/json';

import { deepFreeze, measure, ratios } from './harness.mjs';

export const rows = {
  P1: {
    title:
      'PATCH of a service: parse, rights, apply, validate, links, difference, event, effect, next snapshot',
    run: patchOneService,
  },
  P2: { title: '`applyPatch` alone, three operations, one resource', run: patchOneResource },
  P3: { title: '`applyPatch`, one change in a document of 1,000 services', run: patchOneOfMany },
};

const operations = [
  { op: 'replace', path: '/max_connection', value: 200 },
  { op: 'add', path: '/router_options/weights', value: 'on' },
  { op: 'add', path: '/servers/-', value: '/servers/db-2' },
];

/** A patch as it arrives: parsed anew each time. */
const text = JSON.stringify(operations);
const parsed = () => JSON.parse(text);

const settings = {
  servers: ['/servers/db-1'],
  router_options: { router_options: 'master' },
  filters: ['/filters/Hint'],
  user: 'service_user',
  root_user: false,
  version_string: '9.6-gateway',
  connection_timeout: 300,
  max_connection: 100,
};

const ajvSettings = new Ajv().compile({
  type: 'object',
  additionalProperties: false,
  required: ['servers', 'router_options', 'filters'],
  properties: {
    servers: { type: 'array', items: { type: 'string', maxLength: 1024 }, maxItems: 10_000 },
    router_options: {
      type: 'object',
      additionalProperties: { type: 'string', maxLength: 4096 },
      maxProperties: 1000,
    },
    filters: { type: 'array', items: { type: 'string', maxLength: 1024 }, maxItems: 10_000 },
    user: { type: 'string', maxLength: 255 },
    password: {
      type: 'object',
      additionalProperties: false,
      required: ['sealed'],
      properties: { sealed: { type: 'string', maxLength: 8192 } },
    },
    root_user: { type: 'boolean' },
    version_string: { type: 'string', maxLength: 255 },
    weightby: { type: 'string', maxLength: 255 },
    connection_timeout: { type: 'integer', minimum: 0 },
    max_connection: { type: 'integer', minimum: 0 },
    strip_db_esc: { type: 'boolean' },
  },
});

/** As a user of the library would make it safe: validated, on a deep copy, the result put in its place. */
function fastJsonPatch(document, patch) {
  return jsonpatch.applyPatch(document, patch, true, false).newDocument;
}

function rfc6902InDraft(document, patch) {
  return produce(document, (draft) => {
    const failed = rfc6902.applyPatch(draft, patch).find((error) => error !== null);
    if (failed) throw failed;
  });
}

async function patchOneService(row) {
  const services = Array.from({ length: 100 }, (_, n) => ({
    name: `service ${n}`,
    router: 'readconnroute',
    ...settings,
  }));
  const snapshot = createSnapshot({
    servers: ['db-1', 'db-2'].map((name) => ({ name, address: '10.0.0.1', port: 5432, protocol: 'pg' })),
    filters: [{ name: 'Hint', module: 'regexfilter' }],
    services,
  });
  const context = { now: 1_700_000_000_000, actor: 'ada' };
  const state = deepFreeze({ revision: 0, services });
  const times = await measure({
    ours: () => patchService(snapshot, 'service 50', parsed(), context).next,
    duties: () => patchWithAllDuties(state, 50, parsed(), context),
    bare: () => {
      const after = fastJsonPatch(settings, parsed());
      if (!ajvSettings(after)) throw new Error('invalid');
      return after;
    },
  });
  row.atLeast('fast-json-patch + ajv with the same duties takes', 1.2, ratios(times, 'duties', 'ours'));
  row.report('fast-json-patch + ajv alone takes', ratios(times, 'bare', 'ours'));
}

const patchable = new Set(Object.keys(ajvSettings.schema.properties).filter((name) => name !== 'password'));
const known = new Set(['/servers/db-1', '/servers/db-2', '/filters/Hint']);

/** What a careful program does with the same libraries: rights, links, old and new values, frozen records. */
function patchWithAllDuties({ revision, services }, at, patch, { now, actor }) {
  for (const { op, path, from = path } of patch) {
    for (const pointer of [path, from]) {
      const name = pointer.split('/', 2)[1];
      if (!patchable.has(name) && !(op === 'test' && name in services[at])) throw new Error('forbidden');
    }
  }
  const { name, router, ...before } = services[at];
  const after = fastJsonPatch(before, patch);
  if (!ajvSettings(after)) throw new Error('invalid');
  for (const link of [...after.servers, ...after.filters])
    if (!known.has(link)) throw new Error('no such link');
  const operations = jsonpatch.compare(before, after);
  const differing = new Set(operations.map(({ path }) => path.split('/', 2)[1]));
  const [from, to] = [before, after].map((all) =>
    Object.fromEntries(Object.entries(all).filter(([member]) => differing.has(member))),
  );
  deepFreeze(after);
  const update = { resource: `/services/${encodeURIComponent(name)}`, service: name, from, to, operations };
  const event = deepFreeze({ type: 'service.updated', at: now, actor, ...update });
  const effect = deepFreeze({ type: 'service.update', ...update });
  const next = [...services];
  next[at] = Object.freeze({ name, router, ...after });
  return { event, effect, next: Object.freeze({ revision: revision + 1, services: Object.freeze(next) }) };
}

async function patchOneResource(row) {
  const document = deepFreeze(structuredClone(settings));
  const times = await measure({
    ours: () => applyPatch(document, parsed()),
    fast: () => deepFreeze(fastJsonPatch(document, parsed())),
    immutable: () => immutableJSONPatch(document, parsed()),
    draft: () => rfc6902InDraft(document, parsed()),
  });
  row.atLeast('fast-json-patch (validate, deep copy, frozen) takes', 2.2, ratios(times, 'fast', 'ours'));
  row.atLeast('immutable-json-patch takes', 1.8, ratios(times, 'immutable', 'ours'));
  row.report('rfc6902 in an immer draft takes', ratios(times, 'draft', 'ours'));
}

async function patchOneOfMany(row) {
  const services = Array.from({ length: 1000 }, (_, n) => ({
    name: `service ${n}`,
    ...structuredClone(settings),
  }));
  const read = JSON.parse(JSON.stringify({ services }));
  const frozen = deepFreeze({ services });
  let value = 0;
  const one = () => {
    value += 1;
    return [{ op: 'replace', path: '/services/500/max_connection', value }];
  };
  for (const [what, many] of [
    ['from JSON.parse', read],
    ['frozen', frozen],
  ]) {
    const times = await measure({
      ours: () => applyPatch(many, one()),
      fast: () => deepFreeze(fastJsonPatch(many, one())),
      immutable: () => immutableJSONPatch(many, one()),
    });
    row.atLeast(`${what}: immutable-json-patch takes`, 1, ratios(times, 'immutable', 'ours'));
    row.report(`${what}: fast-json-patch (validate, deep copy, frozen) takes`, ratios(times, 'fast', 'ours'));
  }
  const chains = { ours: read, immutable: read };
  const times = await measure({
    ours: () => {
      chains.ours = applyPatch(chains.ours, one()).value;
    },
    immutable: () => {
      chains.immutable = immutableJSONPatch(chains.immutable, one());
    },
  });
  row.atLeast('a chain of changes: immutable-json-patch takes', 1, ratios(times, 'immutable', 'ours'));
}
