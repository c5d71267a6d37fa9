#!/usr/bin/env node
/**
 * The program `gateway-admin`: hands arguments and streams to the command, and ends with its exit code.
 */
import { run } from './run.ts';

// A reader such as `head` that has enough closes the pipe. There is nothing more to say then.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit();
  throw error;
});
process.exitCode = await run(process.argv.slice(2), process);
