/**
 * The worst cases of a fleet: what one node shows and answers while it does not know yet what the log has.
 */
import type { BreakingWire } from '../../support/breaking-wire.ts';
import type { NodeProcess } from './node-process.ts';
import type { Stream } from './stream.ts';

/**
 * Loses the answer to the append with which the first node ends a command, and lets another node change the same
 * resource before the first one can make the call again.
 */
export async function loseAnswers(
  nodes: readonly NodeProcess[],
  stream: Stream,
  wire: BreakingWire,
): Promise<void> {
  const [one, other] = pairOf(nodes);
  for (let times = 0; times < 5; times += 1) {
    const lost = wire.cutAnswerTo('settlement');
    const first = stream.patch(one, 'Shared');
    await Promise.race([lost, first]);
    await stream.patch(other, 'Shared');
    wire.mend();
    await first;
    await stream.patch(one, 'Shared');
  }
}

/**
 * Asks a node right after another node has changed what the answer rests on. Gives what was not acknowledged: nothing,
 * if the node answers as one that has read the change.
 */
export async function askWhoIsBehind(
  nodes: readonly NodeProcess[],
  stream: Stream,
): Promise<readonly string[]> {
  const [one, other] = pairOf(nodes);
  const wrong: string[] = [];
  const expectDone = async (what: string, command: Promise<string>): Promise<void> => {
    const told = await command;
    if (told !== 'acknowledged') wrong.push(`To ${what} was ${told}`);
  };
  for (let times = 0; times < 5; times += 1) {
    await expectDone('stop a service', stream.switch(one, 'service', 'Shared', 'stop'));
    await expectDone('start it at another node', stream.switch(other, 'service', 'Shared', 'start'));
    const name = `late${String(times)}`;
    await expectDone('create a user', stream.create(one, name));
    await expectDone('delete the user at another node', stream.delete(other, name));
    await expectDone('patch a service', stream.patch(one, 'Shared'));
    const test = { op: 'test', path: '/max_connection', value: stream.acknowledged.at(-1)?.value };
    const patched = stream.patch(other, 'Shared', { before: [test] });
    await expectDone('patch it at another node, after a test of the new value', patched);
  }
  return wrong;
}

function pairOf([one, other]: readonly NodeProcess[]): readonly [NodeProcess, NodeProcess] {
  if (one === undefined || other === undefined) throw new Error('A fleet of two nodes is needed');
  return [one, other];
}
