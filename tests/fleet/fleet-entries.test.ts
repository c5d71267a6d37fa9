/**
 * The history of a node: which configurations of the past it can bring back.
 */
import { expect, it } from '@jest/globals';

import { appendTo, foreignRecord } from '../support/foreign-node.ts';
import { createWorld, outcome, send } from './node.ts';

it('what only a gateway has done is recent if every later shared entry is kept', async () => {
  const world = createWorld();
  const node = await world.open('a');
  const store = world.memory.open();
  let count = 0;
  /** Other nodes make changes. */
  const change = async (times: number): Promise<void> => {
    const records = Array.from({ length: times }, () => {
      const [state, before] = (count += 1) % 2 === 1 ? ['stopped', 'started'] : ['started', 'stopped'];
      const event = {
        ...{ type: `service.${state}`, at: world.clock.now() },
        ...{ resource: '/services/My-Service', service: 'my-service' },
        ...{ from: { state: before }, to: { state } },
      };
      return foreignRecord(`b-${String(count)}`, { resources: [event.resource], events: [event] });
    });
    await appendTo(store, ...records);
    await world.clock.advance(1000);
  };
  const flush = async (): Promise<string> => {
    await outcome(node, 'POST', '/gateway/logs/flush');
    await world.clock.advance(1000);
    const { body } = await send(node, { target: '/history?fields=id' });
    const [entry] = JSON.parse(body as string) as readonly { readonly id: string }[];
    return entry?.id ?? '';
  };
  const restore = (id: string) => outcome(node, 'PUT', `/history/${id}/restore?dry_run=true`);

  const first = await flush();
  await change(1);
  const second = await flush();
  await change(2);
  expect([await restore(first), await restore(second)]).toEqual(['409 undo-refused', '200']);
  await change(997);
  expect(await restore(second)).toBe('200');
  await change(1);
  expect([await restore(second), await restore('x-1')]).toEqual(['409 undo-refused', '404 entry-not-found']);
});
