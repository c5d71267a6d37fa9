/** tests/scenarios/command/support.txt says what becomes of commands that a gateway does not support. */
import { expect, it } from '@jest/globals';
import {
  adoptDocument,
  createMemoryStore,
  createSnapshot,
  openAdmin,
  type Transition,
} from 'gateway-admin-core';

const db = (name: string) => ({ name, address: '10.0.0.1', port: 5432, protocol: 'pg' });
const snapshot = createSnapshot({ servers: [db('db-1'), db('spare')] });

const adopt: Transition = (from, context) =>
  adoptDocument(from, createSnapshot({ servers: [db('db-1')] }), context, { prune: true });

// Promise: not-supported
it('a host that does not say what it supports is not asked for the adoption of a document', async () => {
  const asked: string[] = [];
  const gateway = {
    apply: ({ type }: { readonly type: string }) => Promise.resolve(void asked.push(type)),
    inspect: () => Promise.resolve('in-place' as const),
  };
  const admin = await openAdmin({ snapshot, gateway, store: createMemoryStore() });
  const refusal = { outcome: 'refused', problem: { code: 'not-supported', status: 409 } };
  expect(await admin.execute(adopt)).toMatchObject(refusal);
  expect(admin.plan(adopt)).toMatchObject(refusal);
  expect(asked).toEqual([]);
  await admin.close();
});
