/**
 * Passwords: hashes new passwords and verifies log-ins, with one queue for both.
 *
 * Hashing is expensive. At most two passwords are therefore hashed at the same time, whatever they are hashed for, and
 * a log-in that was verified a short time ago at the same network is not hashed again. Every other log-in costs the
 * same work and gets the same answer, whether or not its user exists.
 */
import { unchanged } from '../../core/decision.ts';
import { passwordFault } from '../../core/secret.ts';
import type { AdminRequest, Principal } from '../../http/message.ts';
import type { Hasher } from '../../ports/port.ts';
import { fail, ok, type Result } from '../../problem.ts';
import { rehashUser, userNamePattern, type User } from '../../resources/user.ts';
import type { Snapshot } from '../../resources/snapshot.ts';
import type { Writer } from '../command/writer.ts';
import type { Ground } from '../ground.ts';
import { LateAnswer } from '../host/waiting.ts';
import { askHost, awaitHost } from '../host/guard.ts';
import { createFailedLogins, createRememberedLogins } from './remembered-logins.ts';
import { createFairQueue, type Share, type Turn } from './fair-queue.ts';
import { shareOf } from './share.ts';

/** What passwords need of a running interface. */
interface PasswordParts extends Ground {
  readonly writer: Writer;
}

/** A name and a password, as a client wrote them. */
interface Credentials {
  readonly name: string;
  readonly password: string;
}

/** The passwords of a running interface. @internal */
export interface Passwords {
  /** Hashes a new and acceptable password. */
  hash(share: Share, password: string): Promise<Result<string>>;
  /** Finds the user of a snapshot whom a name and a password belong to. */
  verify(
    snapshot: Snapshot,
    request: AdminRequest,
    credentials: Credentials,
  ): Promise<Principal | 'throttled' | 'overloaded' | undefined>;
}

/**
 * Checks that every user of a snapshot can log in.
 *
 * @throws Error if the hasher does not know the form of a hash
 * @throws HostError if the hasher does not say whether it knows a hash
 * @internal
 */
export function assertKnownHashes({ users }: Snapshot, hasher: Hasher): void {
  const isKnown = ({ settings: { password } }: User): boolean =>
    hasher.knows === undefined || askHost('hasher.knows', () => hasher.knows?.(password.sealed));
  const names = [...users].filter((user) => !isKnown(user)).map(nameOf);
  if (names.length === 0) return;
  const shown = names.slice(0, 20).map((name) => JSON.stringify(name));
  const more = names.length > 20 ? ` and ${String(names.length - 20)} more` : '';
  throw new Error(
    `The hasher does not know the password hash of ${shown.join(', ')}${more}, so these users could never log in. Give ` +
      'createAdmin or openAdmin the hasher that made the hashes, or correct the password in the document.',
  );
}

function nameOf({ name }: User): string {
  return name;
}

/** Creates the passwords of an interface. @internal */
export function createPasswords(parts: PasswordParts): Passwords {
  const { hasher, clock, limits, onError } = parts;
  const { maxHashesInFlight: maxInFlight, maxHashesQueued: maxQueued, hashDeadlineMs: deadlineMs } = limits;
  const logins = createRememberedLogins(clock);
  const failed = createFailedLogins(clock);
  const decoy = createDecoy(hasher);
  const queue = createFairQueue({ maxInFlight, maxQueued, deadlineMs }, clock);
  const inTurn = async <T>(
    call: 'hasher.hash' | 'hasher.verify',
    share: Share,
    job: () => Promise<T>,
  ): Promise<Turn<T>> => {
    const turn = await queue(share, job);
    if (turn.outcome === 'overloaded') onError(new LateAnswer(call, deadlineMs));
    return turn;
  };
  // No client waits for a renewal, and a later log-in tries again.
  const renew = createRenewal(parts, (share, password) =>
    queue(share, () => awaitHost('hasher.hash', () => hasher.hash(password))),
  );

  return {
    async hash(share, password) {
      const turn = await inTurn('hasher.hash', share, () =>
        awaitHost('hasher.hash', () => hasher.hash(password.normalize('NFC'))),
      );
      if (turn.outcome === 'done') return ok(turn.value);
      return turn.outcome === 'throttled'
        ? fail('login-throttled', 'Too many passwords are being hashed. Try again in a second.')
        : fail('overloaded', 'The password was not hashed in time. Try again later.');
    },

    async verify(snapshot, request, credentials) {
      const { name } = credentials;
      if (passwordFault(credentials.password) !== undefined) return undefined;
      const password = credentials.password.normalize('NFC');
      const user = userNamed(snapshot, name);
      const asked = shareOf(request, name);
      const network = asked.networks.at(-1) ?? '';
      const fingerprint = await logins.fingerprint(network, name, password);
      const isRemembered = (): boolean => logins.has(user, fingerprint);
      if (user !== undefined && isRemembered()) return principalOf(user);
      const share: Share = { ...asked, standing: failed.standingOf(network), attempt: fingerprint };
      const turn = await inTurn('hasher.verify', share, async () => {
        if (request.signal?.aborted === true) return false;
        // Several requests of one client wait at the same time, and the first of them was verified meanwhile.
        if (isRemembered()) return true;
        // Awaited for every user: otherwise the duration of the first log-in would tell whether its user exists.
        const other = await decoy.hash();
        const hash = user?.settings.password.sealed ?? other;
        const matches = await awaitHost('hasher.verify', () => hasher.verify(password, hash));
        if (matches && user !== undefined) logins.add(user, fingerprint);
        else failed.add(network);
        return matches;
      });
      if (turn.outcome === 'overloaded') decoy.forget();
      if (turn.outcome !== 'done') return turn.outcome;
      if (!turn.value || user === undefined) return undefined;
      renew(user, { ...share, standing: 'known' }, password)
        .then((renewed) => renewed && logins.add(renewed, fingerprint))
        .catch(onError);
      return principalOf(user);
    },
  };
}

/** Names are ASCII. A letter that only folds to ASCII, such as the Kelvin sign, belongs to no user. */
function userNamed({ users }: Snapshot, name: string): User | undefined {
  return userNamePattern.test(name) ? users.find(name) : undefined;
}

/** Only the name, as declared; the client may have used another case. */
function principalOf({ name }: Principal): Principal {
  return { name };
}

/**
 * Creates the function that replaces the hash of a user by a new one, if the hash is cheaper to guess than new ones. If
 * this fails, or the interface is read-only, a later log-in tries again.
 */
function createRenewal(
  { hasher, writer }: PasswordParts,
  hash: (share: Share, password: string) => Promise<Turn<string>>,
): (user: User, share: Share, password: string) => Promise<User | undefined> {
  const renewing = new WeakSet<User>();
  const isCheaper = (hash: string): boolean =>
    hasher.needsRehash !== undefined && askHost('hasher.needsRehash', () => hasher.needsRehash?.(hash));
  return async (user, share, password) => {
    const { name } = user;
    const from = user.settings.password.sealed;
    if (!isCheaper(from) || renewing.has(user) || writer.snapshot.interface.settings.read_only)
      return undefined;
    renewing.add(user);
    try {
      const turn = await hash(share, password);
      if (turn.outcome !== 'done') return undefined;
      const to = turn.value;
      await writer.execute({
        transition: (state, context) =>
          state.interface.settings.read_only
            ? unchanged(state, [])
            : rehashUser(state, name, { from, to }, context),
        actor: name,
      });
      const renewed = writer.snapshot.users.find(name);
      return renewed?.settings.password.sealed === to ? renewed : undefined;
    } finally {
      renewing.delete(user);
    }
  };
}

/** The hash to verify against if there is no such user. */
interface Decoy {
  /** Makes the hash at the first call, with the hasher of the users. */
  hash(): Promise<string>;
  /** Makes the hash again at the next call. */
  forget(): void;
}

function createDecoy(hasher: Hasher): Decoy {
  let made: Promise<string> | undefined;
  const forget = (): void => {
    made = undefined;
  };
  return {
    hash() {
      made ??= awaitHost('hasher.hash', () => hasher.hash('nobody')).catch((error: unknown) => {
        forget();
        throw error;
      });
      return made;
    },
    forget,
  };
}
