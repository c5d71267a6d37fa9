/**
 * The examples of the OpenAPI document: what a running interface answers, on the sample document of the tests.
 */
import type { Json, Plan, ProblemCode } from 'gateway-admin-core';

import { additions, endpoints, sentBy, targetOf, withQuery, type Endpoint } from '../contract/endpoint.ts';
import { provoke, runFor } from '../contract/problem-code.ts';
import { boundRoutes } from '../docs/tables.ts';
import { transports } from '../support/transport.ts';
import { codesOf } from './problem-code.ts';

/** Each endpoint of the contract tests with its route. */
export const rows = [...endpoints, ...additions].flatMap((endpoint) => {
  const route = boundRoutes.find(({ method, path }) => method === endpoint.method && path === endpoint.path);
  return route === undefined ? [] : [{ endpoint, route }];
});

/** The examples of one route: the body, the answer, and the plan of a dry run. */
export interface RouteExample {
  readonly request?: unknown;
  readonly answer?: unknown;
  readonly plan?: unknown;
}

/** One request body, one answer and one plan of each route, by its id. Of a list, the first element. */
export async function routeExamples(): Promise<Readonly<Record<string, RouteExample>>> {
  const examples: Record<string, RouteExample> = {};
  for (const { endpoint, route } of rows) {
    // A stream has no end.
    if (route.kind === 'stream') continue;
    const isPlain = route.kind === 'command' && route.answerShape === undefined;
    const query = isPlain ? 'dry_run=true' : route.query.includes('range') ? 'range=0-0' : undefined;
    const { body } = await send(endpoint, query);
    examples[route.id] = {
      ...(endpoint.body === undefined ? {} : { request: endpoint.body.json }),
      ...(isPlain ? { plan: ofOneLife(body as Plan) } : { answer: body }),
    };
  }
  return examples;
}

/** A plan whose mark has the same life at each generation. */
function ofOneLife(plan: Plan): object {
  const [command, digest, life, ...bound] = plan.mark.split('.');
  const mark = [command, digest, ...(life === undefined ? [] : ['5f0c8e21a9b3', ...bound])].join('.');
  return { ...plan, mark };
}

async function send(endpoint: Endpoint, query: string | undefined) {
  const { admin } = await runFor(endpoint);
  const transport = await transports.core(admin);
  return transport.send(endpoint.method, withQuery(targetOf(endpoint), query), sentBy(endpoint));
}

/** The problem of each code, at the first route that can answer with it. */
export async function problemExamples(): Promise<Readonly<Record<string, Json>>> {
  const answers = await problemAnswers();
  return Object.fromEntries([...answers].map(([code, { text }]) => [code, JSON.parse(text) as Json]));
}

/** The answer with each code, of the first route that can answer with it. */
export async function problemAnswers(): Promise<
  ReadonlyMap<ProblemCode, Awaited<ReturnType<typeof provoke>>>
> {
  const answers = new Map<ProblemCode, Awaited<ReturnType<typeof provoke>>>();
  for (const { endpoint, route } of rows)
    for (const code of codesOf(route))
      if (!answers.has(code)) answers.set(code, await provoke(code, endpoint));
  return answers;
}
