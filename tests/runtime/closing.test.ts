import { describe, expect, it } from '@jest/globals';
import { EffectRefused, stopService, type Transition } from 'gateway-admin-core';

import { settle } from '../support/manual-clock.ts';
import { runAdmin } from '../support/running-admin.ts';
import { hold, ScriptedGateway } from '../support/scripted-gateway.ts';
import { transportNames, transports } from '../support/transport.ts';

const stop: Transition = (snapshot, context) => stopService(snapshot, 'My Service', context);

describe('close', () => {
  it('settles what is under way, answers what waits, and refuses what comes', async () => {
    const held = hold();
    const { admin } = runAdmin({ gateway: new ScriptedGateway().will(held.apply) });
    const [begun, waiting] = [admin.execute(stop), admin.execute(stop)];
    await held.begun;
    let closed = false;
    const closing = admin.close().then(() => {
      closed = true;
    });
    expect(await waiting).toMatchObject({ outcome: 'refused', problem: { code: 'closed', status: 503 } });
    expect(await admin.execute(stop)).toMatchObject({ outcome: 'refused', problem: { code: 'closed' } });
    await settle();
    expect(closed).toBe(false);
    held.done();
    expect((await begun).outcome).toBe('accepted');
    await closing;
    expect(admin.snapshot.services.find('my-service')?.state).toBe('stopped');
  });

  it('lets a refusal be taken back before it is done', async () => {
    const held = hold();
    const { admin } = runAdmin({ gateway: new ScriptedGateway().will(held.apply) });
    const execution = admin.execute(stop);
    await held.begun;
    const closing = admin.close();
    held.fail(new EffectRefused('No.'));
    expect(await execution).toMatchObject({ problem: { code: 'effect-refused' } });
    await closing;
    expect(admin.snapshot.revision).toBe(0);
  });

  it('may be called twice, and by using', async () => {
    const { admin } = runAdmin();
    await admin.close();
    await admin.close();
    await admin[Symbol.asyncDispose]();
    expect((await admin.execute(stop)).outcome).toBe('refused');
  });

  it('ends when the host does not answer within the deadline', async () => {
    const held = hold();
    const gateway = new ScriptedGateway().will(held.apply).willSee('not-in-place');
    const { admin, clock } = runAdmin({ gateway });
    const execution = admin.execute(stop);
    await held.begun;
    let closed = false;
    const closing = admin.close().then(() => {
      closed = true;
    });
    await clock.advance(60_000);
    expect((await execution).outcome).toBe('unknown');
    expect(closed).toBe(true);
    await closing;
  });

  it.each(transportNames)(
    'leaves reading as it was, and answers commands with 503, through %s',
    async (name) => {
      const { admin } = runAdmin();
      const transport = await transports[name](admin);
      await admin.close();
      expect((await transport.send('GET', '/services')).status).toBe(200);
      const answer = await transport.send('PUT', '/service/My-Service/stop');
      expect([answer.status, (answer.body as { code: string }).code]).toEqual([503, 'closed']);
      await transport.close();
    },
  );
});
