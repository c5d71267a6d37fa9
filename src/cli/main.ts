#!/usr/bin/env node
/**
 * The program `gateway-admin`: hands arguments and streams to the command, and ends with its exit code.
 */
import { exitCodes, program } from './command.ts';
import { run } from './run.ts';

let isLost = false;
process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  // A reader such as `head` that has enough closes the pipe. A change that has begun goes on all the same.
  if (code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED' || isLost) return;
  isLost = true;
  process.stderr.write(`${program}: The output cannot be written: ${message}\n`);
});
process.stderr.on('error', () => undefined);
const code = await run(process.argv.slice(2), process);
// A server that does not end its answer keeps the connection open. What was printed is written first, or its error
// told.
process.stdout.write('', () => {
  setImmediate(() => process.exit(isLost && code === exitCodes.done ? exitCodes.refused : code));
});
