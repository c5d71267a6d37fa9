import { describe, expect, it } from '@jest/globals';
import { flushLogs, type Admin, type AuditRecord, type Transition } from 'gateway-admin-core';

import { runAdmin } from '../../support/running-admin.ts';

const flush: Transition = (snapshot, context) => flushLogs(snapshot, context);

type Reader = ReturnType<Admin['audit']>;
type Item = Awaited<ReturnType<Reader['next']>>['value'];

/** The next so many items: the number in the id of each record. */
async function take(reader: Reader, count: number): Promise<readonly string[]> {
  const items: string[] = [];
  for (let at = 0; at < count; at += 1) {
    const { done, value } = (await reader.next()) as IteratorResult<Item, undefined>;
    if (done === true) items.push('end');
    else if (value.kind === 'gap')
      items.push(`gap of ${String(value.missed)} before ${numberOf(value.next)}`);
    else items.push(numberOf(value.id));
  }
  return items;
}

function numberOf(id = '.nothing'): string {
  return id.split('.')[1] ?? '';
}

async function flushTimes(admin: Admin, times: number): Promise<void> {
  for (let at = 0; at < times; at += 1) await admin.execute(flush);
}

/** The id of the next record. */
async function idOfNext(admin: Admin): Promise<string> {
  const next = admin.audit().next() as Promise<{ readonly value: AuditRecord }>;
  await flushTimes(admin, 1);
  return (await next).value.id;
}

describe('admin.audit', () => {
  it('gives the records in order, from now on or after a given one', async () => {
    const { admin } = runAdmin();
    const id = await idOfNext(admin);
    const reader = admin.audit();
    await flushTimes(admin, 2);
    await admin.close();
    expect(await take(reader, 3)).toEqual(['2', '3', 'end']);
    expect(await take(admin.audit({ after: id }), 3)).toEqual(['2', '3', 'end']);
    expect(await take(admin.audit({ after: id.replace('.1', '.3') }), 1)).toEqual(['end']);
  });

  it('tells a reader that is behind how many records are missing', async () => {
    const { admin } = runAdmin({ limits: { maxAuditKept: 2 } });
    const id = await idOfNext(admin);
    const slow = admin.audit();
    await flushTimes(admin, 5);
    await admin.close();
    expect(await take(slow, 4)).toEqual(['gap of 3 before 5', '5', '6', 'end']);
    expect(await take(admin.audit({ after: id }), 2)).toEqual(['gap of 3 before 5', '5']);
  });

  it.each(['000000000000.1', 'ID.4'])(
    'gives a gap after a record that is not of this life: %s',
    async (text) => {
      const { admin } = runAdmin();
      const id = await idOfNext(admin);
      await admin.close();
      const after = text.replace('ID', id.split('.')[0] ?? '');
      expect(await take(admin.audit({ after }), 3)).toEqual(['gap of undefined before 1', '1', 'end']);
    },
  );

  it('gives a gap before nothing after a record of another life, if this life has none yet', async () => {
    const { admin } = runAdmin();
    const reader = admin.audit({ after: '000000000000.1' });
    expect(await reader.next()).toEqual({ value: { kind: 'gap' }, done: false });
    await flushTimes(admin, 1);
    expect(await take(reader, 1)).toEqual(['1']);
  });

  it('ends when the signal aborts, and delays nobody', async () => {
    const { admin } = runAdmin();
    const control = new AbortController();
    const reader = admin.audit({ signal: control.signal });
    const waiting = take(reader, 1);
    control.abort();
    expect(await waiting).toEqual(['end']);
    await flushTimes(admin, 1);
    await admin.close();
  });

  it.each(['', 'x', '7.0', '.1', 'a.', 'a.0', 'a.1.1', 'A.1', 'a.-1', 'a.1e1', `a.${'9'.repeat(16)}`])(
    'cannot begin after %j',
    (after) => {
      expect(() => runAdmin().admin.audit({ after })).toThrow(RangeError);
    },
  );

  it.each([[null], [7], [{ after: 7 }], [{ signal: 'x' }]])('refuses the options %j', (options) => {
    expect(() => runAdmin().admin.audit(options as never)).toThrow(TypeError);
  });
});
