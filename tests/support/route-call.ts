/**
 * The interface without anything that runs: requests answered by the functions in the table of routes alone.
 */
import { problemTable, type Json, type Problem, type ProblemCode, type Snapshot } from 'gateway-admin-core';

import { expectDecision } from './expect-decision.ts';
import { boundRoutes, type BoundResourceRoute } from './internal.ts';
import { busySurroundings, type Surroundings } from './surroundings.ts';
import type { Answer, Transport } from './transport.ts';

type Command = Extract<BoundResourceRoute, { readonly kind: 'command' }>;
type PathParameters = Parameters<Command['find']>[1];

const secrets: Parameters<Command['command']>[2] = {
  hash: (password) => Promise.resolve({ ok: true, value: `hash of ${String(password.length)} characters` }),
  objection: () => undefined,
  seal: (secret) => Promise.resolve(`seal of ${String(secret.length)} characters`),
  isSecretParameter: () => false,
};

/**
 * Opens the table of routes on a snapshot. Knows methods, paths, `range` and the fields that are shown only on request;
 * no headers, no other query.
 */
export function openRoutes(start: Snapshot, given: Surroundings = busySurroundings): Transport {
  let snapshot = start;
  return {
    async send(method, target, { body = 'null' } = {}) {
      const [path = '', query] = target.split('?');
      const asked = new URLSearchParams(query);
      const fields = asked.get('fields')?.split(',');
      const surroundings = fields === undefined ? given : { ...given, fields };
      const found = find(method, path);
      if (found === undefined) return answerOf(404);
      const { route, parameters } = found;
      const subject = route.find(snapshot, parameters);
      if (!subject.ok) return refused(subject.problem);
      if (route.kind === 'item') return answerOf(200, route.read(snapshot, subject.value, surroundings));
      if (route.kind === 'list') {
        const list = route.list(snapshot, subject.value, surroundings);
        const [first = 0, last = Infinity] = asked.get('range')?.split('-').map(Number) ?? [];
        return answerOf(200, list.slice(first, last + 1 - first));
      }
      const change = await route.command(parameters, JSON.parse(body) as Json, secrets, surroundings, {});
      if (!change.ok) return refused(change.problem);
      const { decide, creates } = change.value;
      const decision = expectDecision((state, context) => decide(state, subject.value, context), snapshot, {
        now: Date.parse('2016-09-10T00:00:00Z'),
      });
      if (decision.outcome === 'refused') return refused(decision.problem);
      snapshot = decision.next;
      if (creates !== undefined) {
        const created = creates.route.find(snapshot, creates.parameters);
        return created.ok
          ? answerOf(201, creates.route.read(snapshot, created.value, surroundings))
          : refused(created.problem);
      }
      if (route.answer === undefined) return answerOf(204);
      const after = route.find(snapshot, parameters);
      return after.ok
        ? answerOf(200, route.answer(snapshot, after.value, surroundings))
        : refused(after.problem);
    },
    close: () => Promise.resolve(),
  };
}

function find(
  method: string,
  path: string,
): { readonly route: BoundResourceRoute; readonly parameters: PathParameters } | undefined {
  for (const route of boundRoutes) {
    if (route.method !== method || !('find' in route)) continue;
    for (const spelling of [route.path, ...route.aliases]) {
      const match = new RegExp(`^${spelling.replace(/:(\w+)/g, '(?<$1>[^/]+)')}$`).exec(path);
      if (match === null) continue;
      const named = Object.entries(match.groups ?? {});
      return {
        route,
        parameters: Object.fromEntries(named.map(([name, value]) => [name, decodeURIComponent(value)])),
      };
    }
  }
  return undefined;
}

function refused(problem: Problem): Answer {
  return answerOf(problemTable[problem.code as ProblemCode].status, problem);
}

/** As it would be after it was written and read as JSON. */
function answerOf(status: number, value?: unknown): Answer {
  const text = value === undefined ? '' : JSON.stringify(value);
  return { status, headers: {}, text, body: text === '' ? undefined : (JSON.parse(text) as unknown) };
}
