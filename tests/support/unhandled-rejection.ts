/**
 * Rejections that nobody handles. In a program, the first of them ends the process.
 */
import { afterEach, beforeEach, expect } from '@jest/globals';

/** Fails each test of the group in which a promise rejects that has no handler. */
export function allowNoUnhandledRejection(): void {
  const unhandled: unknown[] = [];
  const note = (error: unknown): void => void unhandled.push(error);

  beforeEach(() => {
    process.on('unhandledRejection', note);
  });

  afterEach(async () => {
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', note);
    expect(unhandled.splice(0)).toEqual([]);
  });
}
