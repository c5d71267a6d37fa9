import { expect, it } from '@jest/globals';
import { defaultLimits, type Execution } from 'gateway-admin-core';

import { Audit } from '../../../src/runtime/audit/audit.ts';
import { inShort } from '../../support/audit-reader.ts';
import { sampleSnapshot } from '../../support/document.ts';
import { FailingSink } from '../../support/failing-sink.ts';
import { sampleClock } from '../../support/running-admin.ts';

it('closes only when every command that was sent has left its record', async () => {
  const sink = new FailingSink();
  const errors: unknown[] = [];
  const audit = new Audit({
    audit: { sink },
    clock: sampleClock(),
    life: 'a',
    limits: defaultLimits,
    revision: () => 0,
    onError: (error) => errors.push(error),
  });
  let answer: (execution: Execution) => void = () => undefined;
  const execution = audit.execute(
    { transition: () => ({ outcome: 'unchanged', next: sampleSnapshot(), resources: [] }), actor: 'ada' },
    () => new Promise((resolve) => (answer = resolve)),
  );
  const closing = audit.close();
  await new Promise((resolve) => setImmediate(resolve));
  expect(sink.disposals).toBe(0);
  answer({ outcome: 'unchanged', snapshot: sampleSnapshot() });
  await execution;
  await closing;
  expect([inShort(sink.kept), sink.disposals, errors]).toEqual([['ada execute unchanged'], 1, []]);
});
