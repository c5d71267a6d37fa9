/**
 * The interface without anything that runs: requests answered by the functions in the table of routes alone.
 */
import {
  createTimeFormat,
  problemTable,
  routes,
  type Json,
  type Problem,
  type SecretPorts,
  type Rendering,
  type Result,
  type Route,
  type Snapshot,
} from 'gateway-admin-core';

import { sampleZone } from './document.ts';
import { expectDecision } from './expect-decision.ts';
import type { Answer, Transport } from './transport.ts';

const rendering: Rendering = { times: createTimeFormat(sampleZone) };
const secrets: SecretPorts = {
  hash: (password) => Promise.resolve(`hash of ${String(password.length)} characters`),
  objection: () => undefined,
  seal: (secret) => Promise.resolve(`seal of ${String(secret.length)} characters`),
};

/** Opens the table of routes on a snapshot. Knows methods, paths and `range`; no headers, no other query. */
export function openRoutes(start: Snapshot): Transport {
  let snapshot = start;
  return {
    async send(method, target, { body = 'null' } = {}) {
      const [path = '', query = ''] = target.split('?');
      const found = find(method, path);
      if (found === undefined) return answerOf(404);
      const { route, subject } = found;
      if (route.kind === 'item') return shown(route.read(snapshot, subject, rendering));
      if (route.kind === 'list') {
        const list = route.list(snapshot, subject, rendering);
        const [first = 0, last = Infinity] = query
          .replace('range=', '')
          .split('-')
          .filter(Boolean)
          .map(Number);
        return list.ok ? answerOf(200, list.value.slice(first, last + 1 - first)) : refused(list.problem);
      }
      const transition = await route.command(subject, JSON.parse(body) as Json, secrets);
      if (!transition.ok) return refused(transition.problem);
      const decision = expectDecision(transition.value, snapshot, {
        now: Date.parse('2016-09-10T00:00:00Z'),
      });
      if (decision.outcome === 'refused') return refused(decision.problem);
      snapshot = decision.next;
      return route.answer === undefined ? answerOf(204) : shown(route.answer(snapshot, subject, rendering));
    },
    close: () => Promise.resolve(),
  };
}

function find(method: string, path: string): { readonly route: Route; readonly subject: string } | undefined {
  for (const route of routes) {
    if (route.method !== method) continue;
    for (const spelling of [route.path, ...route.aliases]) {
      const match = new RegExp(`^${spelling.replace(/:\w+/, '([^/]+)')}$`).exec(path);
      if (match !== null) return { route, subject: decodeURIComponent(match[1] ?? '') };
    }
  }
  return undefined;
}

function shown(result: Result<object>): Answer {
  return result.ok ? answerOf(200, result.value) : refused(result.problem);
}

function refused(problem: Problem): Answer {
  return answerOf(problemTable[problem.code].status, problem);
}

/** As it would be after it was written and read as JSON. */
function answerOf(status: number, value?: unknown): Answer {
  const text = value === undefined ? '' : JSON.stringify(value);
  return { status, headers: {}, text, body: text === '' ? undefined : (JSON.parse(text) as unknown) };
}
