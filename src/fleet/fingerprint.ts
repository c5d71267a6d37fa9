/**
 * Fingerprints: what must be equal at all nodes, so that each one can read what the others store: the key that seals secrets,
 * and the hasher of passwords. Each node announces a text that all know, sealed and hashed, and tries those of the others.
 */
import type { Hasher, SecretSealer } from '../ports/port.ts';
import { hashWith, sealWith } from '../runtime/guarded-secret.ts';
import { answerInTime, LateAnswer, type HostDeadline } from '../runtime/host-deadline.ts';
import { askHost } from '../runtime/host-error.ts';
import type { Members, Status } from './members.ts';

/** What each node seals and hashes. */
const text = 'gateway-admin-core';

/** What a node announces. @internal */
export type Fingerprint = Pick<Status, 'key' | 'hash'>;

/** The ports of a node that all nodes must have alike. @internal */
export interface CommonPorts {
  /** Left out without a key that the nodes can share. */
  readonly sealer?: SecretSealer | undefined;
  /** Left out if nobody logs in with a password. */
  readonly hasher?: Hasher | undefined;
  readonly deadline: HostDeadline;
}

/**
 * Makes the fingerprint of this node.
 *
 * @throws HostError if a port gives no text, or does not answer in time
 * @internal
 */
export async function fingerprintOf({ sealer, hasher, deadline }: CommonPorts): Promise<Fingerprint> {
  return {
    ...(sealer?.durable === true ? { key: await sealWith(sealer, text, deadline) } : {}),
    // A hasher that does not tell its hashes from others cannot be compared.
    ...(hasher?.knows === undefined
      ? {}
      : { hash: await answerInTime('hasher.hash', deadline, () => hashWith(hasher, text)) }),
  };
}

/**
 * Looks for a running node that differs.
 *
 * @param wait - waits for longer than a beat
 * @returns why this node cannot join; `undefined` if it can
 * @internal
 */
export async function runningDifference(
  ports: CommonPorts,
  members: Members,
  wait: () => Promise<void>,
): Promise<string | undefined> {
  const differing = async (): Promise<ReadonlyMap<string, string>> => {
    const found = new Map<string, string>();
    for (const [node, status] of await members.hear()) {
      const difference = await differenceTo(node, status, ports);
      if (difference !== undefined) found.set(`${node} ${status.boot} ${String(status.beat)}`, difference);
    }
    return found;
  };
  const before = await differing();
  if (before.size === 0) return undefined;
  // The announcement of a killed node stays in the store. Only a node that still announces itself counts.
  await wait();
  for (const [said, difference] of await differing()) if (!before.has(said)) return difference;
  return undefined;
}

/** Looks once at each other node that begins at the same time, or later. @internal */
export class Comparison {
  readonly #ports: CommonPorts;
  readonly #seen = new Set<string>();

  constructor(ports: CommonPorts) {
    this.#ports = ports;
  }

  /** Gives the differences to the nodes that were not compared before. */
  async look(others: Members['others']): Promise<readonly string[]> {
    const found: string[] = [];
    for (const [node, { status }] of others) {
      if (this.#seen.has(status.boot)) continue;
      this.#seen.add(status.boot);
      const difference = await differenceTo(node, status, this.#ports);
      if (difference !== undefined) found.push(difference);
    }
    return found;
  }
}

/** Gives why this node and another one cannot run together, in a sentence; `undefined` if they can. */
async function differenceTo(
  node: string,
  { key, hash }: Fingerprint,
  { sealer, hasher, deadline }: CommonPorts,
): Promise<string | undefined> {
  if (!(await canOpen(sealer, key, deadline)))
    return (
      `The node "${node}" seals secrets with another key than this one. Give all nodes of the fleet the same key: ` +
      'sealer: createSecretSealer({ key }).'
    );
  if (hash === undefined || hasher?.knows === undefined) return undefined;
  if (askHost('hasher.knows', () => hasher.knows?.(hash))) return undefined;
  return (
    `The node "${node}" hashes passwords in a form that the hasher of this one does not know, so its users could not log in ` +
    'here. Give all nodes of the fleet the same hasher.'
  );
}

async function canOpen(
  sealer: SecretSealer | undefined,
  sealed: string | undefined,
  deadline: HostDeadline,
): Promise<boolean> {
  const isShared = sealer?.durable === true;
  if (sealed === undefined || !isShared) return (sealed === undefined) === !isShared;
  try {
    return (await answerInTime('sealer.open', deadline, () => sealer.open(sealed))) === text;
  } catch (error) {
    if (error instanceof LateAnswer) throw error;
    return false;
  }
}
