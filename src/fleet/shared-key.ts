/**
 * Shared key: all nodes seal secrets with the same key. Each node seals a text that all know, and tries its key on the texts
 * of the others.
 */
import type { SecretSealer } from '../ports/port.ts';
import { sealWith } from '../runtime/guarded-secret.ts';
import { answerInTime, LateAnswer, type HostDeadline } from '../runtime/host-deadline.ts';
import type { Members } from './members.ts';

/** What each node seals. */
const text = 'gateway-admin-core';

/**
 * Seals the text that all nodes know.
 *
 * @returns the sealed text; `undefined` without a key that the nodes can share
 * @throws HostError if the sealer does not answer in time
 * @internal
 */
export async function sealedText(
  sealer: SecretSealer | undefined,
  deadline: HostDeadline,
): Promise<string | undefined> {
  return sealer?.durable === true ? sealWith(sealer, text, deadline) : undefined;
}

/**
 * Looks for a running node that has another key.
 *
 * @param wait - waits for longer than a beat
 * @returns why this node cannot join; `undefined` if it can
 * @throws HostError if the sealer does not answer in time
 * @internal
 */
export async function keyFault(
  sealer: SecretSealer | undefined,
  members: Members,
  wait: () => Promise<void>,
  deadline: HostDeadline,
): Promise<string | undefined> {
  const foreign = async (): Promise<ReadonlyMap<string, string>> => {
    const found = new Map<string, string>();
    for (const [node, { boot, beat, key }] of await members.hear())
      if (!(await fits(sealer, key, deadline))) found.set(node, `${boot} ${String(beat)}`);
    return found;
  };
  const before = await foreign();
  if (before.size === 0) return undefined;
  // The announcement of a killed node stays in the store. Only a node that still announces itself counts.
  await wait();
  for (const [node, life] of await foreign())
    if (before.get(node) !== life)
      return (
        `The node "${node}" seals secrets with another key than this one. Give all nodes of the fleet the same key: ` +
        'sealer: createSecretSealer({ key }).'
      );
  return undefined;
}

async function fits(
  sealer: SecretSealer | undefined,
  sealed: string | undefined,
  deadline: HostDeadline,
): Promise<boolean> {
  if (sealed === undefined || sealer?.durable !== true)
    return (sealed === undefined) === (sealer?.durable !== true);
  try {
    return (await answerInTime('sealer.open', deadline, () => sealer.open(sealed))) === text;
  } catch (error) {
    if (error instanceof LateAnswer) throw error;
    return false;
  }
}
