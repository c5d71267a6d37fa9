import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { writeFileSync } from 'node:fs';

import { afterEach, beforeAll, expect, it } from '@jest/globals';

import { buildExamples } from '../support/built-package.ts';
import { temporaryDirectories } from '../support/temporary-directory.ts';
import { endGateways, startGateway, type RunningGateway } from './running-gateway.ts';

const newDirectory = temporaryDirectories();

beforeAll(buildExamples);
afterEach(endGateways);

/** Runs a command that the gateway has printed, as its user would, and gives the status of the answer. */
function statusOf(command: string): string {
  return execFileSync('sh', ['-c', `${command.trim()} -s -o /dev/null -w '%{http_code}'`], {
    encoding: 'utf8',
  });
}

/** The printed command that contains a text. */
function printed({ output }: RunningGateway, part: string): string {
  const line = output.split('\n').find((each) => each.includes('curl') && each.includes(part));
  if (line === undefined) throw new Error(`The gateway has printed no command with ${part}:\n${output}`);
  return line;
}

// Promise: example-first-user
it('says that anybody may administer it, until the first user exists; then it prints commands with a log-in', async () => {
  const directory = await newDirectory();
  const document = join(directory, 'gateway.json');
  writeFileSync(document, '{}');
  const args = ['--document', document, '--store', join(directory, 'store')];
  const open = await startGateway(args);
  expect(open.output).toContain(`There is no admin user: anybody who reaches ${open.admin} may administer`);
  expect(statusOf(printed(open, '/sessions'))).toBe('200');
  expect(statusOf(printed(open, '/users'))).toBe('204');
  expect(statusOf(printed(open, '/sessions'))).toBe('401');
  await open.stop();

  const guarded = await startGateway(args);
  expect(guarded.output).not.toContain('anybody');
  // The user would type the password when curl asks for it.
  const withPassword = (command: string) => command.replace('-u ada', "-u 'ada:choose one'");
  expect(statusOf(withPassword(printed(guarded, '/sessions')))).toBe('200');
  const patch = `-d '[{"op":"replace","path":"/password","value":"another"}]'`;
  const type = `-H 'content-type: application/json-patch+json'`;
  const change = `curl -u 'ada:choose one' -X PATCH ${guarded.admin}/users/ada ${type} ${patch}`;
  expect(statusOf(change)).toBe('200');
  expect(statusOf(withPassword(printed(guarded, '/sessions')))).toBe('401');
  await guarded.stop();
});
