#!/usr/bin/env node
/**
 * The program `gateway-admin`: hands arguments and streams to the command, and ends with its exit code.
 */
import { run } from './run.ts';

process.exitCode = await run(process.argv.slice(2), process);
