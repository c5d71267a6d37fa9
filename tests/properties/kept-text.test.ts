/**
 * A text that was kept is the text that would be made now, after everything that happens.
 */
import { expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { createAdmin, createSnapshot, linkTo, type Admin, type Snapshot } from 'gateway-admin-core';

import { documents } from '../support/arbitrary-document.ts';
import { acts, reportOf, reports, transitionOf } from '../support/arbitrary-happening.ts';

const lists = ['services', 'servers', 'monitors', 'filters', 'users'] as const;
const queries = ['', '?fields=name', '?range=0-0', '?range=0-0&fields=name'];

/** What is shown, and in which parts. */
function targetsIn(snapshot: Snapshot): readonly string[] {
  const items = (['services', 'servers', 'monitors', 'filters'] as const).flatMap((list) =>
    [...snapshot[list]].map(({ name }) => linkTo(list, name)),
  );
  return [
    ...lists.flatMap((list) => queries.map((query) => `/${list}${query}`)),
    ...items.flatMap((link) => [link, `${link}?fields=name`]),
    ...[
      '/services?fields=current_connections,drain',
      '/servers?fields=state,status',
      '/servers?fields=drain',
    ],
    ...[...snapshot.services].map(({ name }) => `${linkTo('services', name)}/listeners`),
  ];
}

function open(snapshot: Snapshot): Admin {
  return createAdmin({
    snapshot,
    gateway: { apply: () => Promise.resolve(), inspect: () => Promise.resolve('in-place') },
    // What an unsound report is refused for.
    observe: { onError: () => undefined },
  });
}

/** Reads all targets, in this order. */
async function answersOf(
  admin: Admin,
  targets = targetsIn(admin.snapshot),
): Promise<Readonly<Record<string, readonly unknown[]>>> {
  const answers: Record<string, readonly unknown[]> = {};
  for (const target of targets) {
    const handled = await admin.handle({ method: 'GET', target, headers: {} });
    if (!handled.matched) throw new Error(`Nothing is at ${target}`);
    const { status, headers, body } = handled.response;
    answers[target] = [status, headers['etag'], body];
  }
  return answers;
}

it('is the text that would be made now, after every command and every report', async () => {
  let changes = 0;
  await fc.assert(
    fc.asyncProperty(
      documents,
      fc.array(fc.oneof(acts, reports), { minLength: 5, maxLength: 20 }),
      async (document, happenings) => {
        await using admin = open(createSnapshot(document));
        for (const each of happenings) {
          const before = await answersOf(admin);
          if ('verb' in each) await admin.execute(transitionOf(each));
          else admin.report(reportOf(each, admin.snapshot));
          await using other = open(admin.snapshot);
          const now = await answersOf(admin);
          // In the other order: a text that is kept for the wrong target is then another wrong one.
          expect(now).toEqual(await answersOf(other, targetsIn(admin.snapshot).toReversed()));
          if (JSON.stringify(now) !== JSON.stringify(before)) changes += 1;
        }
      },
    ),
    { numRuns: 60 },
  );
  expect(changes).toBeGreaterThan(9);
});
