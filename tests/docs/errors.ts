/**
 * The page about problems. Its sentences are written by hand, in the page: what a code means, and what to do. The
 * statuses, and the answers of a running interface, come from tables. Every code must have such an answer.
 */
import { problemTable, type ProblemCode } from 'gateway-admin-core';

import { problemAnswers } from '../openapi/example.ts';
import { read } from '../support/project.ts';
import { runAdmin } from '../support/running-admin.ts';
import { transports } from '../support/transport.ts';
import { httpBlock } from './http-block.ts';

/** The codes whose answers the page shows, in the order of its blocks. */
const shown: readonly ProblemCode[] = ['validation-failed', 'command-in-progress'];

/** The requests that get the codes of no endpoint. */
const elsewhere: Readonly<Partial<Record<ProblemCode, readonly [method: string, path: string]>>> = {
  'route-not-found': ['GET', '/nothing'],
  'method-not-allowed': ['PUT', '/services'],
  'method-unknown': ['PURGE', '/services'],
};

type Answer = Parameters<typeof httpBlock>[0];

/** Writes the whole page. */
export async function errorsPage(): Promise<string> {
  const answers = await answersOfAll();
  const codes = Object.keys(problemTable) as ProblemCode[];
  for (const code of codes) assertAnswer(code, answers.get(code));
  const page = read('docs/errors.md');
  const rows = codes.map((code) => rowOf(code, page));
  const blocks = shown.flatMap((code) => answers.get(code) ?? []).map(httpBlock);
  return page
    .replace(/(?:^\| <a id=.*\n)+/m, () => `${rows.join('\n')}\n`)
    .replace(/^```http\n[^]*?^```\n/gm, () => blocks.shift() ?? '');
}

async function answersOfAll(): Promise<ReadonlyMap<string, Answer>> {
  const { send } = await transports.fetch(runAdmin().admin);
  const requests = Object.entries(elsewhere) as [ProblemCode, [string, string]][];
  const answers = requests.map(async ([code, request]) => [code, await send(...request)] as const);
  return new Map<string, Answer>([...(await problemAnswers()), ...(await Promise.all(answers))]);
}

/** Fails if a running interface does not answer with a code, its status and its type. */
function assertAnswer(code: ProblemCode, answer: Answer | undefined): void {
  const { status, type } = JSON.parse(answer?.text ?? '{}') as {
    readonly status?: number;
    readonly type?: string;
  };
  const isRight = [answer?.status, status].every((each) => each === problemTable[code].status);
  if (isRight && type === `urn:problem-type:gateway-admin:${code}`) return;
  throw new RangeError(`Nothing answers with ${code}, its status and its type`);
}

/** The row of a code, with the sentences that the page has. */
function rowOf(code: ProblemCode, page: string): string {
  const [, meaning, next] =
    new RegExp(`^\\| <a id="${code}"></a>.*?\\|.*?\\| *(.+?\\.) *\\| *(.+?\\.) *\\|$`, 'm').exec(page) ?? [];
  if (meaning === undefined || next === undefined)
    throw new RangeError(
      `docs/errors.md needs the row | <a id="${code}"></a> | | What it means. | What to do. |`,
    );
  return `| <a id="${code}"></a>\`${code}\` | ${String(problemTable[code].status)} | ${meaning} | ${next} |`;
}
