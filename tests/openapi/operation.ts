/**
 * Operations: the paths of the document, with one operation for each route and each of its paths.
 */
import type * as z from 'zod/mini';

import { boundRoutes, isAction, type BoundRoute } from '../docs/tables.ts';
import {
  answerSchema,
  bodySchema,
  componentOf,
  definedBy,
  patchedBy,
  partSchema,
  ref,
  type Members,
  type ReadRoute,
} from './component.ts';
import type { RouteExample } from './example.ts';
import { fleetHeaders, parametersOf, preferenceHeader } from './parameter.ts';
import { problemsOf } from './problem-code.ts';

type CommandRoute = Extract<BoundRoute, { readonly kind: 'command' }>;

/**
 * The paths of the document.
 *
 * @param ways - the ways to log in
 * @param examples - the examples of each route by its id
 */
export function paths(ways: readonly object[], examples: Readonly<Record<string, RouteExample>>): Members {
  const items = new Map<string, Record<string, unknown>>();
  for (const route of boundRoutes) {
    for (const path of [route.path, ...route.aliases]) {
      const template = templateOf(path);
      const item = items.get(template) ?? {};
      item[route.method.toLowerCase()] = operation(route, path, ways, examples[route.id] ?? {});
      items.set(template, item);
    }
  }
  return Object.fromEntries(items);
}

/** `/services/{name}` for `/services/:name`. */
function templateOf(path: string): string {
  return path.replace(/:(\w+)/g, '{$1}');
}

function operation(
  route: BoundRoute,
  path: string,
  ways: readonly object[],
  examples: RouteExample,
): Members {
  const isAlias = path !== route.path;
  const same = `The same as \`${route.method} ${templateOf(route.path)}\`. `;
  const isOpen = route.kind === 'item' && route.publicFields !== undefined;
  const isProbe = route.kind === 'probe';
  return {
    operationId: isAlias ? `${route.id}.alias` : route.id,
    tags: route.id.split('.').slice(0, 1),
    summary: route.summary,
    description: `${isAlias ? same : ''}Needs ${isProbe ? 'no log-in' : `the role \`${route.role}\``}.`,
    ...(isProbe ? {} : { 'x-role': route.role }),
    ...(isAlias || route.isAddition === true ? { 'x-addition': true } : {}),
    ...(isOpen ? { security: [...ways, {}] } : isProbe ? { security: [] } : {}),
    parameters: parametersOf(route),
    ...(route.mediaTypes.length === 0 ? {} : { requestBody: requestBody(route as CommandRoute, examples) }),
    responses: { ...successes(route, examples), ...problemsOf(route) },
  };
}

function requestBody(route: CommandRoute, { request }: RouteExample): Members {
  const { mediaTypes, bodyShape } = route;
  const patched = patchedBy(route);
  const schema =
    patched === undefined
      ? bodySchema(bodyShape as z.core.$ZodType)
      : ref('schemas', `${componentOf(patched)}Patch`);
  const content = { schema, ...example(request) };
  return {
    required: true,
    content: Object.fromEntries(mediaTypes.map((type) => [type, content])),
  };
}

function successes(route: BoundRoute, examples: RouteExample): Members {
  switch (route.kind) {
    case 'item':
      return { 200: answer(route, 'The resource.', whole(route), examples), ...notModified(route) };
    case 'list':
      return {
        200: answer(route, 'The elements of the list.', { type: 'array', items: whole(route) }, examples),
        ...notModified(route),
      };
    case 'stream':
      return {
        200: {
          description: 'The events, as they happen (server-sent events).',
          headers: headersNamed(['X-Accel-Buffering']),
          content: { 'text/event-stream': { schema: { type: 'string' } } },
        },
      };
    case 'probe':
      return { 204: { description: 'The interface takes commands.', headers: headersNamed([]) } };
    case 'command':
      return commandSuccesses(route, examples);
  }
}

/** With the parameter `fields`, the answer has a part of the representation. */
function whole({
  shape,
  query,
  publicFields,
}: ReadRoute & { readonly publicFields?: readonly string[] }): Members {
  const schema = answerSchema(shape);
  const isPartial = query.includes('fields') || publicFields !== undefined;
  return isPartial ? { anyOf: [schema, partSchema(shape)] } : schema;
}

function answer(
  route: ReadRoute,
  description: string,
  schema: Members,
  { answer: shown }: RouteExample,
): Members {
  const names = [
    ...(route.validator === undefined && route.conditionTag === undefined ? [] : ['ETag']),
    ...(route.kind === 'list' ? ['X-Total-Count'] : []),
    ...(route.query.includes('range') ? ['Link'] : []),
  ];
  return {
    description,
    headers: headersNamed(names),
    content: { 'application/json': { schema, ...example(shown) } },
  };
}

function notModified({ validator }: ReadRoute): Members {
  if (validator === undefined) return {};
  const description = 'The representation still has an entity tag of If-None-Match.';
  return { 304: { description, headers: headersNamed(['ETag']) } };
}

/** A dry run answers a plan, and the command itself the changed resource or nothing. */
function commandSuccesses(route: CommandRoute, { answer: shown, plan }: RouteExample): Members {
  const { answerShape } = route;
  const headers = headersNamed([
    ...('validator' in route ? ['ETag'] : []),
    ...Object.keys(isAction(route) ? preferenceHeader : fleetHeaders),
  ]);
  if (answerShape === undefined)
    return {
      200: {
        description: 'The plan of a dry run. With `Prefer: return=representation`, what was done.',
        headers,
        content: {
          'application/json': {
            schema: { anyOf: [ref('schemas', 'Plan'), ref('schemas', 'Outcome')] },
            ...example(plan),
          },
        },
      },
      204: { description: 'The change is made.', headers },
    };
  const isCreation = definedBy(route) !== undefined;
  return {
    200: {
      description: isCreation
        ? 'The resource that was there before, if it is equal; the plan of a dry run.'
        : 'The changed resource; the plan of a dry run.',
      headers,
      content: {
        'application/json': {
          schema: { anyOf: [answerSchema(answerShape), ref('schemas', 'Plan')] },
          ...(isCreation ? {} : example(shown)),
        },
      },
    },
    ...(isCreation
      ? {
          201: {
            description: 'The new resource.',
            headers: { ...headers, ...headersNamed(['Location']) },
            content: { 'application/json': { schema: answerSchema(answerShape), ...example(shown) } },
          },
        }
      : {}),
  };
}

/** The headers of an answer, besides those of every answer. */
function headersNamed(names: readonly string[]): Members {
  return Object.fromEntries([...names, 'Fleet-Node'].map((name) => [name, ref('headers', name)]));
}

function example(value: unknown): Members {
  return value === undefined ? {} : { example: value };
}
