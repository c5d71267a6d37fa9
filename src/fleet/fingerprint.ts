/**
 * Fingerprints: what must be equal at all nodes, so that each one can read what the others store: the key that seals
 * secrets, and the hasher of passwords. Each node announces a text that all know, sealed and hashed, and tries those of
 * the others.
 */
import type { Hasher, SecretSealer } from '../ports/port.ts';
import { answerInTime, LateAnswer, type HostDeadline } from '../runtime/host/waiting.ts';
import { askHost, awaitHost } from '../runtime/host/guard.ts';
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
  const seal = sealer?.durable === true ? () => sealer.seal(text) : undefined;
  // A hasher that does not tell its hashes from others cannot be compared.
  const hash = hasher?.knows === undefined ? undefined : () => hasher.hash(text);
  return {
    ...(seal && { key: await awaitHost('sealer.seal', () => answerInTime('sealer.seal', deadline, seal)) }),
    ...(hash && { hash: await awaitHost('hasher.hash', () => answerInTime('hasher.hash', deadline, hash)) }),
  };
}

/**
 * Looks for a running process that has the name of this node, or differs.
 *
 * @param wait - waits for longer than a beat
 * @returns why this node cannot join; `undefined` if it can
 * @internal
 */
export async function obstacleToJoining(
  name: string,
  ports: CommonPorts,
  members: Members,
  wait: () => Promise<void>,
): Promise<string | undefined> {
  const obstacles = async (): Promise<ReadonlyMap<string, string>> => {
    const found = new Map<string, string>();
    for (const [node, status] of await members.hear()) {
      const obstacle = node === name ? nameTaken(node) : await differenceTo(node, status, ports);
      if (obstacle !== undefined) found.set(`${node} ${status.life} ${String(status.beat)}`, obstacle);
    }
    return found;
  };
  const before = await obstacles();
  if (before.size === 0) return undefined;
  // The announcement of a killed process stays in the store. Only a process whose beat moves counts.
  await wait();
  for (const [said, obstacle] of await obstacles()) if (!before.has(said)) return obstacle;
  return undefined;
}

function nameTaken(node: string): string {
  const cause = `Another process runs the node "${node}" of this fleet.`;
  return `${cause} Give each process a name of its own, or end the other one.`;
}

/** What {@link Comparison} needs of this node. */
interface ComparedNode extends CommonPorts {
  readonly leaseMs: number;
  /** Gets a sentence for each difference. */
  readonly onError: (error: unknown) => void;
}

/** Compares this node once with each other process that announces itself. @internal */
export class Comparison {
  readonly #own: ComparedNode;
  /** The lives that were compared. */
  #seen: ReadonlySet<string> = new Set();
  #isLooking = false;

  constructor(own: ComparedNode) {
    this.#own = own;
  }

  /** Looks at the other nodes, beside the beats: a key can be slow. A node whose comparison fails is compared again. */
  look(others: Members['others']): void {
    const lives = new Set(Array.from(others.values(), ({ status }) => status.life));
    this.#seen = new Set([...this.#seen].filter((life) => lives.has(life)));
    const fresh = [...others].filter(([, { status }]) => !this.#seen.has(status.life));
    if (this.#isLooking || fresh.length === 0) return;
    this.#isLooking = true;
    void Promise.all(fresh.map(([node, { status }]) => this.#compare(node, status))).finally(() => {
      this.#isLooking = false;
    });
  }

  async #compare(node: string, status: Status): Promise<void> {
    const { leaseMs, onError } = this.#own;
    try {
      const difference = await differenceTo(node, status, this.#own);
      this.#seen = new Set([...this.#seen, status.life]);
      if (difference !== undefined) onError(new Error(difference));
      if (status.leaseMs !== leaseMs)
        onError(
          new Error(
            `The node "${node}" has leaseMs ${String(status.leaseMs)}, and this one ${String(leaseMs)}: they do not agree on ` +
              'when a node is silent. Give all nodes of the fleet the same leaseMs.',
          ),
        );
    } catch (error) {
      onError(error);
    }
  }
}

/** Gives why this node and another one cannot run together, in a sentence; `undefined` if they can. */
async function differenceTo(
  node: string,
  { key, hash }: Fingerprint,
  { sealer, hasher, deadline }: CommonPorts,
): Promise<string | undefined> {
  const isShared = sealer?.durable === true;
  if ((key !== undefined) !== isShared)
    return (
      `The node "${node}" has ${isShared ? 'no key' : 'a key'} for secrets that the nodes can share, and this one has ` +
      `${isShared ? 'one' : 'none'}. ${sameKey}`
    );
  if (isShared && key !== undefined && !(await canOpen(sealer, key, deadline)))
    return `The node "${node}" seals secrets with another key than this one. ${sameKey}`;
  if (hash === undefined || hasher?.knows === undefined) return undefined;
  if (askHost('hasher.knows', () => hasher.knows?.(hash))) return undefined;
  return (
    `The node "${node}" hashes passwords in a form that the hasher of this one does not know, so its users could not log in ` +
    'here. Give all nodes of the fleet the same hasher.'
  );
}

const sameKey = 'Give all nodes of the fleet the same key: sealer: createSecretSealer({ key }).';

async function canOpen(sealer: SecretSealer, sealed: string, deadline: HostDeadline): Promise<boolean> {
  try {
    return (await answerInTime('sealer.open', deadline, () => sealer.open(sealed))) === text;
  } catch (error) {
    if (error instanceof LateAnswer) throw error;
    return false;
  }
}
