/**
 * Guarded secrets: the hasher and the sealer of the host, with answers of the right type. A wrong answer fails the request,
 * because nobody may log in by mistake, and a secret must not be lost. The host is told why: the client has done nothing wrong.
 */
import { hiddenText, longestHash, longestSealed, parseShape } from '../../core/shape.ts';
import type { Hasher, SecretSealer } from '../../ports/port.ts';
import { answerInTime, type HostDeadline } from './host-deadline.ts';
import { booleanFrom, wrongAnswer, type HostCall } from './host-error.ts';

/**
 * Hashes a password.
 *
 * @throws HostError if the hasher gives no text that can be a hash
 * @internal
 */
export async function hashWith(hasher: Hasher, password: string): Promise<string> {
  return hashFrom(await hasher.hash(password));
}

/**
 * Verifies a password.
 *
 * @throws HostError if the hasher gives neither true nor false
 * @internal
 */
export async function verifyWith(hasher: Hasher, password: string, hash: string): Promise<boolean> {
  return booleanFrom('hasher.verify', await hasher.verify(password, hash));
}

/**
 * Seals a secret.
 *
 * @throws HostError if the sealer gives no text that can be a sealed one, or does not answer in time
 * @internal
 */
export async function sealWith(
  sealer: SecretSealer,
  secret: string,
  deadline: HostDeadline,
): Promise<string> {
  return sealedFrom(await answerInTime('sealer.seal', deadline, () => sealer.seal(secret)));
}

const hashFrom = textFrom('hasher.hash', longestHash);
const sealedFrom = textFrom('sealer.seal', longestSealed);

/** Makes the function that checks the answers of a call. */
function textFrom(call: HostCall, longest: number): (answer: unknown) => string {
  const shape = hiddenText(longest);
  return (answer) => {
    const parsed = parseShape(shape, answer);
    if (parsed.ok) return parsed.value;
    const wanted = `a line of 1 to ${longest.toLocaleString('en')} characters`;
    throw wrongAnswer(call, answer, wanted);
  };
}
