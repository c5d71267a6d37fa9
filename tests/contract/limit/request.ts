/**
 * The limits of requests, and of the patches in them.
 */
import {
  createBasicAuthentication,
  createSnapshot,
  defaultLimits,
  patchService,
  type Problem,
} from 'gateway-admin-core';
import { applyPatch, type Json } from 'gateway-admin-core/json';

import { sampleSnapshot } from '../../support/document.ts';
import { nested, writers } from '../../support/input.ts';
import { accepted, answerOf, gives, sends, type Limit, type Trial } from '../../support/limit.ts';
import { credentials, quickHasher, snapshotOf } from '../../support/log-in.ts';
import { runAdmin } from '../../support/running-admin.ts';

const [patch] = writers;
const document = { method: 'POST', target: '/document', headers: { 'content-type': 'application/json' } };
const rename = { op: 'replace', path: '/user', value: 'x' };

/** A patch that is accepted, with a member that RFC 6902 does not know. */
const withComment = (comment: string): string =>
  `[${JSON.stringify(rename).slice(0, -1)},"comment":${comment}}]`;

/** Sends a body whose end comes after some time. */
const slowly: Trial = async (ms) => {
  const { admin, clock } = runAdmin();
  let end: (body: Uint8Array) => void = () => undefined;
  const body = (): Promise<Uint8Array> => new Promise((resolve) => (end = resolve));
  const handled = admin.handle({ ...patch, body });
  await clock.advance(ms);
  end(new TextEncoder().encode('[]'));
  const { response } = (await handled) as { response: { status: number; body?: string } };
  if (response.status < 400) return accepted;
  return `${String(response.status)} ${(JSON.parse(response.body ?? '') as { code: string }).code}`;
};

/** Logs in with a header of a length. */
const logsIn: Trial = async (length) => {
  const { admin } = runAdmin({
    snapshot: await snapshotOf({ ada: 'engine' }),
    hasher: quickHasher,
    access: { authenticate: createBasicAuthentication() },
  });
  const [scheme = '', token = ''] = credentials('ada', 'engine').split(' ');
  const authorization = scheme + token.padStart(length - scheme.length);
  return answerOf(admin, { method: 'GET', target: '/services', headers: { authorization } });
};

const session = (id: number) =>
  createSnapshot({
    services: [{ name: 'Sales', router: 'cli' }],
    sessions: [
      {
        id,
        state: 'ready',
        user: 'a',
        address: '::1',
        service: '/services/sales',
        connected: '2016-01-01T00:00:00Z',
      },
    ],
  });

const filter = { name: 'Hint', module: 'tee' };

/** A filter of a size in JSON, with a member that is ignored. Each member counts with a comma. */
function sizedFilter(size: number): string {
  const services = 'x'.repeat(size - JSON.stringify({ ...filter, services: '' }).length - 1);
  return JSON.stringify({ ...filter, services });
}

export const requestLimits: readonly Limit[] = [
  {
    option: 'maxTargetBytes',
    value: defaultLimits.maxTargetBytes,
    unit: 'bytes',
    bounds: 'path and query of a request',
    beyond: '414 uri-too-long',
    trial: sends((size) => ({ method: 'GET', target: '/services?range=0-'.padEnd(size, '0'), headers: {} })),
  },
  {
    option: 'maxBodyBytes',
    value: defaultLimits.maxBodyBytes,
    unit: 'bytes',
    bounds: 'body of a request',
    beyond: '413 content-too-large',
    trial: sends((size) => ({ ...patch, body: '[]'.padStart(size) })),
  },
  {
    option: 'maxBodyDepth',
    value: defaultLimits.maxBodyDepth,
    bounds: 'nesting of arrays and objects in a body',
    beyond: '400 body-too-deep',
    trial: sends((size) => ({ ...patch, body: withComment(nested(size - 2, '[', ']')) })),
  },
  {
    option: 'maxBodyValues',
    value: defaultLimits.maxBodyValues,
    bounds: 'values in a body, nested ones included',
    beyond: '413 content-too-large',
    trial: sends((size) => ({
      ...patch,
      body: withComment(
        `[${Array(size - 6)
          .fill('0')
          .join()}]`,
      ),
    })),
  },
  {
    option: 'maxDocumentBytes',
    value: defaultLimits.maxDocumentBytes,
    unit: 'bytes',
    bounds: 'a document in the body of `POST /document`',
    beyond: '413 content-too-large',
    trial: sends((size) => ({ ...document, body: '{}'.padStart(size) })),
  },
  {
    option: 'maxDocumentValues',
    value: defaultLimits.maxDocumentValues,
    bounds: 'values in such a document, nested ones included',
    beyond: '413 content-too-large',
    trial: sends((size) => ({
      ...document,
      body: `{"sessions":[${Array(size - 2)
        .fill('0')
        .join()}]}`,
    })),
  },
  {
    value: 1_048_576,
    unit: 'characters',
    bounds: 'an entry of a document in `POST /document`, as JSON',
    beyond: '422 validation-failed',
    trial: sends(
      (size) => ({ ...document, body: `{"filters":[${sizedFilter(size)}]}` }),
      () => ({ snapshot: createSnapshot({ filters: [filter] }) }),
    ),
  },
  {
    option: 'bodyDeadlineMs',
    value: defaultLimits.bodyDeadlineMs,
    unit: 'milliseconds',
    bounds: 'time until a body has arrived',
    beyond: '408 body-timeout',
    trial: slowly,
  },
  {
    value: Number.MAX_SAFE_INTEGER,
    bounds: 'an integer in a body, above or below zero',
    beyond: '400 number-out-of-range',
    trial: sends((size) => ({
      ...patch,
      body: JSON.stringify([{ ...rename, path: '/max_connection', value: size }]),
    })),
  },
  {
    value: 8192,
    unit: 'bytes',
    bounds: 'header `Authorization` with Basic authentication',
    beyond: '401 unauthenticated',
    trial: logsIn,
  },
  {
    value: Number.MAX_SAFE_INTEGER,
    bounds: 'positions in `range`',
    beyond: '400 range-invalid',
    trial: sends((size) => ({ method: 'GET', target: `/services?range=0-${String(size)}`, headers: {} })),
  },
  {
    value: Number.MAX_SAFE_INTEGER,
    bounds: 'id of a session in a path',
    beyond: '400 session-id-invalid',
    trial: sends(
      (size) => ({ method: 'GET', target: `/sessions/${String(size)}`, headers: {} }),
      (size) => ({ snapshot: session(Math.min(size, Number.MAX_SAFE_INTEGER)) }),
    ),
  },
];

/** Tests a member whose pointer has these tokens. */
const testAt = (tokens: readonly string[]) => {
  const document = tokens.reduceRight<Json>((value, token) => ({ [token]: value }), 1);
  return applyPatch(document, [{ op: 'test', path: tokens.map((token) => `/${token}`).join(''), value: 1 }]);
};

/** A value of so many levels. */
const levels = (depth: number): Json => JSON.parse(nested(depth, '[', ']')) as Json;

/** A program tests the user of a service for a value of so many levels, which no user is. */
const testsInProgram: Trial = (size) => {
  const { outcome, ...decision } = patchService(
    sampleSnapshot(),
    'My Service',
    [{ op: 'test', path: '/user', value: levels(size) }],
    { now: 0 },
  );
  const { status, code } = (decision as { readonly problem: Problem }).problem;
  return Promise.resolve(code === 'patch-test-failed' ? accepted : `${String(status)} ${code}`);
};

export const patchLimits: readonly Limit[] = [
  {
    rule: 'maxOperations',
    value: 100,
    bounds: 'operations of a patch',
    beyond: '422 patch-too-many-operations',
    trial: sends((size) => ({ ...patch, body: JSON.stringify(Array(size).fill(rename)) })),
  },
  {
    rule: 'maxPointerLength',
    value: 1024,
    unit: 'characters',
    bounds: 'pointer in a patch',
    beyond: '400 pointer-invalid',
    trial: gives((size) => testAt(['x'.repeat(size - 1)])),
  },
  {
    rule: 'maxPointerTokens',
    value: 32,
    bounds: 'tokens of a pointer in a patch',
    beyond: '400 pointer-invalid',
    trial: gives((size) => testAt(Array<string>(size).fill('x'))),
  },
  {
    rule: 'maxResultBytes',
    value: 1_048_576,
    unit: 'bytes',
    bounds: 'resource after an operation that adds or moves a value, roughly',
    beyond: '422 patch-result-too-large',
    trial: gives((size) =>
      applyPatch({}, [{ op: 'add', path: '/a', value: 'x'.repeat(size - '{"a":"",}'.length) }]),
    ),
  },
  {
    value: 30,
    bounds: 'nesting of a value in a patch from a program',
    beyond: '400 patch-malformed',
    trial: testsInProgram,
  },
  {
    value: 500,
    bounds: 'nesting of a value in a patch for `applyPatch`',
    beyond: '400 patch-malformed',
    trial: gives((size) => applyPatch({}, [{ op: 'add', path: '/a', value: levels(size) }])),
  },
];
