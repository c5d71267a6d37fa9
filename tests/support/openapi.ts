/**
 * The OpenAPI document as a judge: what an answer, or a request that was accepted, has that `openapi.json` does not
 * allow. Every interface that the contract tests run with `runAdmin` or `openRunning` is judged, and so are the answers
 * of the example gateway to the system tests.
 */
import { runInThisContext } from 'node:vm';

import { expect } from '@jest/globals';
import type { Ajv2020, Options, ValidateFunction } from 'ajv/dist/2020.js';
import type { AdminRequest, AdminResponse } from 'gateway-admin-core';

import { read, root } from './project.ts';

/** The module of ajv, and what is kept on it. */
interface AjvModule {
  readonly Ajv2020: new (options: Options) => Ajv2020;
  document?: Ajv2020;
}

interface Content {
  readonly [mediaType: string]: unknown;
}

interface Response {
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Content;
}

interface Parameter {
  readonly name: string;
}

interface Operation {
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, unknown>>;
}

/** An operation, with the JSON Pointer to it. */
interface Place {
  readonly operation: Operation;
  readonly pointer: string;
}

/** The other tests send too much for that. */
const isJudged = /[\\/](?:contract|system|fleet)[\\/](?!simulation)/.test(expect.getState().testPath ?? '');

const document = JSON.parse(isJudged ? read('openapi.json') : '{"paths":{}}') as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
};

const templates = Object.entries(document.paths).map(([template, item]) => ({
  pattern: new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+')}/?$`),
  template,
  item,
}));

/** Headers of every answer, which the document describes once. */
const everywhere: ReadonlySet<string> = new Set([
  'cache-control',
  'content-type',
  'x-content-type-options',
  'vary',
  'access-control-allow-origin',
  'access-control-allow-credentials',
  'access-control-expose-headers',
]);

/** The headers of requests that mean something to an endpoint. */
const requestHeaders: ReadonlySet<string> = new Set(['if-match', 'if-none-match', 'prefer', 'last-event-id']);

const breaches: string[] = [];

/** What was judged already: some tests send the same request thousands of times. */
const judged = new Set<string>();

/** Notes what an answer, or a request that was accepted, has that the document does not allow. */
export function judge(request: AdminRequest, response: AdminResponse, text: string): void {
  if (!isJudged) return;
  const { method, target, body, signal } = request;
  const key = [method, target, response.status, text, typeof body === 'string' ? body : ''].join('\n');
  if (judged.has(key)) return;
  judged.add(key);
  const place = placeOf(method, target.split('?')[0] ?? '');
  // Nobody reads the answer to a client that has left.
  if (place === undefined || signal?.aborted === true) return;
  const told = [
    ...answerBreaches(place, method, response, text),
    ...requestBreaches(place, request, response),
  ];
  for (const each of told) breaches.push(`${method} ${target} ${String(response.status)}: ${each}`);
}

/** Gives the breaches that were noted since the last call. */
export function takeBreaches(): readonly string[] {
  return breaches.splice(0);
}

function placeOf(method: string, path: string): Place | undefined {
  // Methods have upper-case letters; a known method in lower case is an unknown method.
  const name = method === 'HEAD' ? 'get' : method === method.toUpperCase() ? method.toLowerCase() : '';
  const found = templates.find(({ pattern }) => pattern.test(path));
  if (found === undefined || !Object.hasOwn(found.item, name)) return undefined;
  const operation = found.item[name] as Operation;
  return { operation, pointer: pointerTo('paths', found.template, name) };
}

function answerBreaches(
  { operation, pointer }: Place,
  method: string,
  { status, headers }: AdminResponse,
  text: string,
): readonly string[] {
  const given = operation.responses[String(status)];
  if (given === undefined) return ['the status is not documented'];
  const [found, place] = resolved(given, `${pointer}${pointerTo('responses', String(status))}`);
  const response = found as Response;
  const known = new Set(Object.keys(response.headers ?? {}).map((name) => name.toLowerCase()));
  const strange = Object.keys(headers).filter((name) => !known.has(name) && !everywhere.has(name));
  const told = strange.map((name) => `the header ${name} is not documented`);
  if (method === 'HEAD') return told;
  const type = headers['content-type'];
  if (type === undefined || response.content?.[type] === undefined)
    return type === response.content ? told : [...told, `the content type ${String(type)} is not documented`];
  return [...told, ...faultsOf(`${place}${pointerTo('content', type, 'schema')}`, JSON.parse(text))];
}

/** A validating proxy must let a request through that the interface accepts. */
function requestBreaches(
  { operation, pointer }: Place,
  { target, headers, body }: AdminRequest,
  { status }: AdminResponse,
): readonly string[] {
  if (status >= 300) return [];
  const names = operation.parameters.map((each) => (resolved(each, '')[0] as Parameter).name);
  const strange = [...new URLSearchParams(target.split('?')[1]).keys()].filter(
    (name) => !names.includes(name),
  );
  const unnamed = Object.keys(headers).filter(
    (name) => requestHeaders.has(name) && !names.some((each) => each.toLowerCase() === name),
  );
  const told = [...strange, ...unnamed].map((name) => `the parameter ${name} is not documented`);
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? '';
  if (operation.requestBody === undefined || typeof body !== 'string') return told;
  if (operation.requestBody.content[type] === undefined)
    return [...told, `the body is documented without ${type}`];
  return [
    ...told,
    ...faultsOf(`${pointer}${pointerTo('requestBody', 'content', type, 'schema')}`, JSON.parse(body)),
  ];
}

/** What a reference leads to, and where it is. */
function resolved(given: unknown, pointer: string): readonly [unknown, string] {
  const { $ref } = given as { readonly $ref?: string };
  if ($ref === undefined) return [given, pointer];
  const tokens = $ref.split('/').slice(1);
  const found = tokens.reduce<unknown>((part, token) => (part as Record<string, unknown>)[token], document);
  return [found, $ref.slice(1)];
}

function pointerTo(...tokens: readonly string[]): string {
  return tokens.map((token) => `/${token.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

function faultsOf(pointer: string, value: unknown): readonly string[] {
  const validate = validator(encodeURI(pointer));
  if (validate(value)) return [];
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath} ${String(message)} ${JSON.stringify(params)}`,
  );
}

const validators = new Map<string, ValidateFunction>();

function validator(pointer: string): ValidateFunction {
  const known = validators.get(pointer);
  if (known !== undefined) return known;
  const found = ajv().getSchema(`openapi#${pointer}`);
  if (found === undefined) throw new RangeError(`The document has no schema at ${pointer}`);
  validators.set(pointer, found as ValidateFunction);
  return found as ValidateFunction;
}

/**
 * Jest gives each test file modules of its own, and to load ajv and to compile the schemas again in each would take
 * seconds: ajv, and what ajv has compiled, stay in the worker.
 */
function ajv(): Ajv2020 {
  const { createRequire } = runInThisContext(
    "process.getBuiltinModule('node:module')",
  ) as typeof import('node:module');
  const shared = createRequire(root)('ajv/dist/2020') as AjvModule;
  if (shared.document === undefined) {
    const options = { strict: false, validateFormats: false, validateSchema: false };
    shared.document = new shared.Ajv2020(options);
    shared.document.addSchema(document, 'openapi');
  }
  return shared.document;
}
