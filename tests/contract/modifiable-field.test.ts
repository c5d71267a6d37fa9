import { afterEach, describe, expect, it } from '@jest/globals';
import { problemTable, routes, type ProblemCode } from 'gateway-admin-core';

import { appliedTo, runAdmin, type Running } from '../support/running-admin.ts';
import {
  rowsThrough,
  transportNames,
  transports,
  type Answer,
  type Transport,
} from '../support/transport.ts';
import { modifiableFields } from './modifiable-field.ts';

describe.each(transportNames)('through %s', (name) => {
  let transport: Transport | undefined;

  afterEach(async () => {
    await transport?.close();
  });

  async function open(): Promise<Running> {
    const running = runAdmin();
    transport = await transports[name](running.admin);
    return running;
  }

  async function patch(target: string, operations: unknown): Promise<Answer> {
    const headers = { 'content-type': 'application/json-patch+json' };
    const answer = await transport?.send('PATCH', target, { headers, body: JSON.stringify(operations) });
    if (answer === undefined) throw new Error('No transport is open');
    return answer;
  }

  async function read(target: string): Promise<Readonly<Record<string, unknown>>> {
    const body = (await transport?.send('GET', target))?.body;
    return (Array.isArray(body) ? body[0] : body) as Readonly<Record<string, unknown>>;
  }

  it.each(rowsThrough(name, modifiableFields, ({ kind }) => kind))(
    '$field of $read can be replaced',
    async (row) => {
      const { gateway } = await open();
      const before = await read(row.read);
      const answer = await patch(row.patch, [{ op: 'replace', path: `/${row.field}`, value: row.value }]);
      expect(answer.status).toBe(200);
      const after = await read(row.read);
      const shown = row.shownAs === undefined ? {} : { ...row.moves, [row.shownAs]: row.value };
      expect(after).toEqual({ ...before, ...shown });
      // The answer to a patch of a server has its status under both names.
      expect(answer.body).toEqual(row.kind === 'server' ? { ...after, state: after['status'] } : after);
      // The users and the interface belong to the library: the gateway is not asked.
      expect(appliedTo(gateway)).toHaveLength(['user', 'interface'].includes(row.kind) ? 0 : 1);
    },
  );

  it.each(rowsThrough(name, modifiableFields, ({ kind }) => kind))(
    '$field of $read can be tested, unless it is secret',
    async (row) => {
      await open();
      const before = await read(row.read);
      const value = row.shownAs === undefined ? 'guess' : before[row.shownAs];
      const answer = await patch(row.patch, [{ op: 'test', path: `/${row.field}`, value }]);
      expect(answer.status).toBe(row.shownAs === undefined ? 422 : 200);
    },
  );

  it.each(rowsThrough(name, modifiableFields, ({ kind }) => kind))(
    '$field of $read can be removed only if it is optional',
    async (row) => {
      await open();
      const answer = await patch(row.patch, [{ op: 'remove', path: `/${row.field}` }]);
      const can = row.removed === 'absent' || row.removed === 'empty';
      expect(answer.status).toBe(can ? 200 : 422);
      if (can) expect(await read(row.read)).not.toHaveProperty(row.field);
    },
  );

  it.each(rowsThrough(name, modifiableFields, ({ kind }) => kind))(
    '$field of $read refuses invalid values, and nothing changes',
    async (row) => {
      const { admin, gateway } = await open();
      const { snapshot } = admin;
      for (const value of row.refused) {
        const answer = await patch(row.patch, [{ op: 'replace', path: `/${row.field}`, value }]);
        const problem = answer.body as {
          code: ProblemCode;
          errors: { pointer: string; operation: number }[];
        };
        expect({ value, status: answer.status }).toEqual({ value, status: 422 });
        expect(problemTable[problem.code].status).toBe(422);
        expect(problem.errors.map(({ operation }) => operation)).not.toContain(undefined);
        expect(problem.errors.map(({ pointer }) => pointer.split('/')[1])).toEqual(
          problem.errors.map(() => row.field),
        );
      }
      expect(admin.snapshot).toBe(snapshot);
      expect(gateway.calls).toEqual([]);
    },
  );
});

describe('the modifiable fields', () => {
  it('are the fields that the summaries of the routes name', () => {
    const named = routes
      .filter(({ method }) => method === 'PATCH')
      .map(({ id, summary }) => ({ id, fields: summary.replace(/^.*: |\.$/g, '').split(', ') }));
    const kinds = new Set(modifiableFields.map(({ kind }) => kind));
    const rows = [...kinds].map((kind) => ({
      id: kind === 'interface' ? 'interface.patch' : `${kind}s.patch`,
      fields: modifiableFields.filter((row) => row.kind === kind).map(({ field }) => field),
    }));
    expect(named).toEqual(rows);
  });
});
