import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import {
  createSnapshot,
  createUser,
  type AdminRequest,
  type AuditRecord,
  type GatewayDocument,
} from 'gateway-admin-core';

import { documents } from '../support/arbitrary-document.ts';
import {
  acts,
  reportOf,
  reports,
  transitionOf,
  type Act,
  type Report,
} from '../support/arbitrary-happening.ts';
import { requests } from '../support/arbitrary-request.ts';
import { runAdmin, type Running } from '../support/running-admin.ts';

type Happening = Act | Report | AdminRequest;

const happenings = fc.array(
  fc.oneof<[fc.Arbitrary<Act>, fc.Arbitrary<Report>, fc.Arbitrary<AdminRequest>]>(acts, reports, requests),
  { maxLength: 12 },
);

async function happen({ admin, clock }: Running, what: Happening): Promise<void> {
  if ('verb' in what) await admin.execute(transitionOf(what), { actor: 'ada' });
  else if ('method' in what) await admin.handle(what);
  else admin.report(reportOf(what, admin.snapshot));
  await clock.settle();
}

/** Runs an interface without a sink, and leaves a first record, after which a reader can begin. */
async function running(document: GatewayDocument): Promise<Running & { readonly first: string }> {
  const own = runAdmin({ snapshot: createSnapshot(document) });
  const head = own.admin.audit().next();
  await own.admin.execute((snapshot) => createUser(snapshot, { name: '' } as never, { now: 0 }));
  const { value } = (await head) as { readonly value: AuditRecord };
  return { ...own, first: value.id };
}

/** Reads all records after the first one, without the ids, which each interface draws for itself. */
async function recordsAfter({
  admin,
  first,
}: Running & { readonly first: string }): Promise<readonly string[]> {
  const records: string[] = [];
  for await (const item of admin.audit({ after: first })) records.push(masked(item));
  return records;
}

function masked(item: object): string {
  return JSON.stringify({ ...item, id: '', ...('command' in item && { command: '' }) });
}

describe('a record that is read late', () => {
  it('equals the record that is read at once, after any event', async () => {
    await fc.assert(
      fc.asyncProperty(documents, happenings, async (document, list) => {
        const [watched, unwatched] = [await running(document), await running(document)];
        const atOnce = recordsAfter(watched);
        for (const what of list) {
          await happen(watched, what);
          await happen(unwatched, what);
        }
        await Promise.all([watched.admin.close(), unwatched.admin.close()]);
        expect(await recordsAfter(unwatched)).toEqual(await atOnce);
      }),
      { numRuns: 60 },
    );
  });
});
