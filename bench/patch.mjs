/**
 * Patching, against the libraries that people use: `npm run bench`, after a build.
 *
 * The peers are made to keep the promises that ours keeps as far as they can: fast-json-patch validates and copies
 * deeply, so that a patch that fails half-way leaves nothing behind; rfc6902 works on a structured clone.
 */
import { Ajv } from 'ajv';
import jsonpatch from 'fast-json-patch';
import { immutableJSONPatch } from 'immutable-json-patch';
import { produce } from 'immer';
import * as rfc6902 from 'rfc6902';

import { createSnapshot, patchService } from 'gateway-admin-core';
import { applyPatch } from 'gateway-admin-core/json';
import { measure, report } from './measure.mjs';

const operations = [
  { op: 'replace', path: '/max_connection', value: 200 },
  { op: 'add', path: '/router_options/weights', value: 'on' },
  { op: 'add', path: '/servers/-', value: '/servers/db-2' },
];

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
    passwordSealed: { type: 'string', maxLength: 8192 },
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

function rfc6902OnClone(document, patch) {
  const copy = structuredClone(document);
  const failed = rfc6902.applyPatch(copy, patch).find((error) => error !== null);
  if (failed) throw failed;
  return copy;
}

function rfc6902InDraft(document, patch) {
  return produce(document, (draft) => {
    const failed = rfc6902.applyPatch(draft, patch).find((error) => error !== null);
    if (failed) throw failed;
  });
}

const snapshot = createSnapshot({
  servers: [1, 2].map((n) => ({ name: `db-${n}`, address: '10.0.0.1', port: 5432, protocol: 'pg' })),
  filters: [{ name: 'Hint', module: 'regexfilter' }],
  services: [{ name: 'Sales', router: 'readconnroute', ...settings }],
});

report(
  'P1: PATCH of a service: form, rules, apply, validate the whole, diff, decision with event and effect',
  measure({
    ours: () => patchService(snapshot, 'Sales', operations, { now: 0 }),
    'fast-json-patch (validate, deep copy) + ajv + compare': () => {
      const after = fastJsonPatch(settings, operations);
      if (!ajvSettings(after)) throw new Error('invalid');
      return jsonpatch.compare(settings, after);
    },
    'fast-json-patch (validate, deep copy) + ajv': () => {
      const after = fastJsonPatch(settings, operations);
      if (!ajvSettings(after)) throw new Error('invalid');
      return after;
    },
  }),
  { 'fast-json-patch (validate, deep copy) + ajv': 1 },
);

report(
  'P2: applyPatch alone, three operations, one resource',
  measure({
    ours: () => applyPatch(settings, operations),
    'fast-json-patch (validate, deep copy)': () => fastJsonPatch(settings, operations),
    'immutable-json-patch': () => immutableJSONPatch(settings, operations),
    'rfc6902 in an immer draft': () => rfc6902InDraft(settings, operations),
    'rfc6902 on a structured clone': () => rfc6902OnClone(settings, operations),
  }),
  { 'fast-json-patch (validate, deep copy)': 3, 'immutable-json-patch': 2, 'rfc6902 in an immer draft': 4 },
);

const many = { services: Array.from({ length: 1000 }, (_, n) => ({ name: `service ${n}`, ...settings })) };
const one = [{ op: 'replace', path: '/services/500/max_connection', value: 7 }];

report(
  'P3: applyPatch, one change in a document of 1,000 services',
  measure({
    ours: () => applyPatch(many, one),
    'fast-json-patch (validate, deep copy)': () => fastJsonPatch(many, one),
  }),
  { 'fast-json-patch (validate, deep copy)': 15 },
);
