/**
 * The page about problems. Its sentences are written by hand, in the page: the beginning and the end, what a code means,
 * and the next step. The endpoints that answer with a code, and an answer of a running interface, come from tables.
 */
import { problemTable, type ProblemCode } from 'gateway-admin-core';

import { problemAnswers } from '../openapi/example.ts';
import { codesOf } from '../openapi/problem-code.ts';
import { runAdmin } from '../support/running-admin.ts';
import { read } from '../support/project.ts';
import { transports } from '../support/transport.ts';
import { endpointGroups } from './endpoint-group.ts';
import { httpBlock } from './http-block.ts';
import { boundRoutes, isSequence, type BoundRoute } from './tables.ts';

const page = read('docs/errors.md');
const [firstChapter, unusual] = ['\n## Status ', '\n## Accepted, although unusual\n'].map((title) => {
  const at = page.indexOf(title);
  if (at === -1) throw new RangeError(`docs/errors.md has no "${title.trim()}"`);
  return at + 1;
});

/** What a code means, and what a client does next, as the page has it. */
function sentencesOf(code: ProblemCode): { readonly meaning: string; readonly next: string } {
  const [, section = ''] = page.split(new RegExp(`^### ${code}\n`, 'm'));
  const [, meaning, next] = /^\n\*\*[^*]+\*\* ([^]+?)\n\n- Next step: ([^]+?)\n- /.exec(section) ?? [];
  if (meaning !== undefined && next !== undefined) return { meaning, next: next.replaceAll('\n  ', '\n') };
  throw new RangeError(
    `docs/errors.md needs "### ${code}", "**Title.** What it means.", and "- Next step: What to do." above "- Answered by:"`,
  );
}

/** The requests that get the codes of no endpoint. */
const elsewhere: Readonly<Partial<Record<ProblemCode, readonly [method: string, path: string]>>> = {
  'route-not-found': ['GET', '/nothing'],
  'method-not-allowed': ['PUT', '/services'],
  'method-unknown': ['PURGE', '/services'],
};

/** Writes the whole page. */
export async function errorsPage(): Promise<string> {
  const answers = new Map([...(await problemAnswers()), ...(await answersElsewhere())]);
  const codes = Object.keys(problemTable) as ProblemCode[];
  const statuses = [...new Set(codes.map((code) => problemTable[code].status))];
  const chapters = statuses.flatMap((status) => [
    `## Status ${String(status)}\n`,
    ...codes
      .filter((code) => problemTable[code].status === status)
      .map((code) => section(code, answers.get(code))),
  ]);
  return [page.slice(0, firstChapter), ...chapters, page.slice(unusual)].join('\n');
}

type Answer = Parameters<typeof httpBlock>[0];

async function answersElsewhere(): Promise<readonly (readonly [ProblemCode, Answer])[]> {
  const { send } = await transports.fetch(runAdmin().admin);
  const requests = Object.entries(elsewhere) as [ProblemCode, [string, string]][];
  const answers = requests.map(async ([code, request]) => [code, await send(...request)] as const);
  return Promise.all(answers);
}

function section(code: ProblemCode, answer: Answer | undefined): string {
  if (answer === undefined) throw new RangeError(`Nothing answers with ${code}`);
  const { meaning, next } = sentencesOf(code);
  return [
    `### ${code}\n`,
    `**${problemTable[code].title}.** ${meaning}\n`,
    `- Next step: ${next}\n- Answered by: ${sendersOf(code)}.\n`,
    httpBlock(answer),
  ].join('\n');
}

/** The endpoints that answer with a code: their list, or a named set with its exceptions, whichever is shorter. */
function sendersOf(code: ProblemCode): string {
  if (code === 'not-ready') return '`GET /ready`, and every path while the gateway is starting';
  if (elsewhere[code] !== undefined) return 'requests that belong to no endpoint';
  const routes = boundRoutes.filter((route) => !isSequence(route));
  const all = routes.filter((route) => codesOf(route).includes(code));
  const ways = endpointGroups.flatMap(([name, has]) => {
    const named = routes.filter(has);
    const others = named.filter((route) => !all.includes(route));
    return all.every((route) => named.includes(route)) ? [{ name, others }] : [];
  });
  const [best] = ways.toSorted((a, b) => a.others.length - b.others.length);
  if (best === undefined || best.others.length >= all.length) return listOf(all);
  return best.others.length === 0 ? best.name : `${best.name}, except ${listOf(best.others)}`;
}

function listOf(routes: readonly BoundRoute[]): string {
  return routes.map(({ method, path }) => `\`${method} ${path}\``).join(', ');
}
