/** Closing what a program has opened. */

/** What closes each opened thing, in the order in which the things were opened. */
export type Closers = (() => unknown)[];

/** Closes everything, the last thing first. An error is printed, and the rest is closed all the same. */
export async function closeAll(closers: Closers): Promise<void> {
  for (const close of closers.reverse()) {
    try {
      await close();
    } catch (error) {
      console.error(error);
    }
  }
}
