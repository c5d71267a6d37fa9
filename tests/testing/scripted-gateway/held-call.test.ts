import { describe, expect, it } from '@jest/globals';
import { EffectRefusedError, type Effect, type EffectContext } from 'gateway-admin-core';
import { createScriptedGateway, hold, type ScriptedGateway } from 'gateway-admin-core/testing';

import { sampleSnapshot } from '../../support/document.ts';

const stop: Effect = { type: 'service.stop', resource: '/services/My-Service', service: 'my-service' };
const context: EffectContext = { commandId: '1', signal: new AbortController().signal };

describe('a held call', () => {
  const stateOf = (gateway: ScriptedGateway): string | undefined =>
    gateway.state.services['my-service']?.state;

  it('applies the effect when the test says done', async () => {
    const gateway = createScriptedGateway({ snapshot: sampleSnapshot() });
    const held = hold();
    const seen: string[] = [];
    void held.begun.then(() => seen.push('begun'));
    gateway.will(held.apply);
    await Promise.resolve();
    expect(seen).toEqual([]);
    const call = gateway.apply(stop, context).then(() => seen.push('done'));
    await held.begun;
    expect([seen, stateOf(gateway)]).toEqual([['begun'], 'started']);
    held.done();
    await call;
    expect([seen, stateOf(gateway)]).toEqual([['begun', 'done'], 'stopped']);
  });

  it('applies nothing when the test says fail, whatever the test says later', async () => {
    const gateway = createScriptedGateway({ snapshot: sampleSnapshot() });
    const held = hold();
    gateway.will(held.apply);
    const call = gateway.apply(stop, context);
    const refusal = new EffectRefusedError('Busy.');
    held.fail(refusal);
    held.done();
    await expect(call).rejects.toBe(refusal);
    expect(stateOf(gateway)).toBe('started');
  });

  it('is refused when the gateway cannot apply the effect', async () => {
    const gateway = createScriptedGateway({ snapshot: sampleSnapshot() });
    const held = hold();
    gateway.will(held.apply);
    const call = gateway.apply({ ...stop, service: 'nothing' }, context);
    held.done();
    await expect(call).rejects.toThrow(EffectRefusedError);
  });

  it('can be ended before it is made, or never made', async () => {
    const gateway = createScriptedGateway({ snapshot: sampleSnapshot() });
    const [done, failed] = [hold(), hold()];
    done.done();
    failed.fail(new Error('nobody hears of it'));
    gateway.will(done.apply);
    await gateway.apply(stop, context);
    expect(stateOf(gateway)).toBe('stopped');
  });

  it('applies nothing after the calls are dropped', async () => {
    const gateway = createScriptedGateway({ snapshot: sampleSnapshot() });
    const held = hold();
    gateway.will(held.apply);
    const call = gateway.apply(stop, context);
    gateway.dropCalls();
    held.done();
    await call;
    expect(stateOf(gateway)).toBe('started');
  });
});
