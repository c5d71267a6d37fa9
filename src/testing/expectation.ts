/**
 * What the audits of stores expect, as checks that throw a sentence.
 */

export async function expectRejection(method: string, call: Promise<unknown>): Promise<void> {
  const given = await call.then(describe, () => undefined);
  if (given !== undefined) throw new Error(`${method} must reject, but resolved to ${given}`);
}

/** Compares the code of the error, because a store may use another copy of this library. */
export async function expectConflict(method: string, call: Promise<unknown>): Promise<void> {
  const fault = await call.then(
    (given) => `resolved to ${describe(given)}`,
    (error: unknown) =>
      error instanceof Error && 'code' in error && error.code === 'store-conflict'
        ? undefined
        : `rejected with ${String(error)}`,
  );
  if (fault !== undefined)
    throw new Error(`${method} must reject with a StoreConflictError for another position, but ${fault}`);
}

export function expectSame(what: string, found: unknown, expected: unknown): void {
  if (isSame(found, expected)) return;
  throw new Error(`${what} must be ${describe(expected)}, not ${describe(found)}`);
}

/** Whether two JSON values are equal; the order of members does not matter. */
function isSame(one: unknown, other: unknown): boolean {
  if (!isContainer(one) || !isContainer(other)) return Object.is(one, other);
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const [keys, others] = [Object.keys(one), Object.keys(other)];
  return keys.length === others.length && keys.every((key) => hasSame(one, other, key));
}

function hasSame(one: object, other: object, key: string): boolean {
  return Object.hasOwn(other, key) && isSame(Reflect.get(one, key), Reflect.get(other, key));
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

export function describe(value: unknown): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value);
  return text.length <= 300 ? text : `${text.slice(0, 300)}…`;
}

/** Expects that a call ends within ten seconds. Rejects as the call does. */
export async function expectEnd(what: string, call: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new Error(`${what} must end when its signal aborts, but goes on`)),
      10_000,
    );
  });
  await Promise.race([call, late]).finally(() => clearTimeout(timer));
}
