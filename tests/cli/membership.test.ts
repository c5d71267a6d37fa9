import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createSecretSealer, EffectRefusedError, toDocument } from 'gateway-admin-core';

import { sampleGateway, runAdmin, type Running } from '../support/running-admin.ts';
import { temporaryDirectories } from '../support/temporary-directory.ts';
import { command, servers, type Circumstances, type Result } from './command-line.ts';

const serve = servers(afterEach);
const newDirectory = temporaryDirectories();
const sealer = createSecretSealer();
let running: Running;
let url = '';

async function start(options: Parameters<typeof runAdmin>[0] = {}): Promise<void> {
  running = runAdmin({ name: 'eu-1', sealer, ...options });
  url = await serve(running.admin);
}

beforeEach(() => start());

function ask(args: readonly string[], circumstances?: Circumstances): Promise<Result> {
  return command([...args, '--url', url], circumstances);
}

async function fileWith(content: string): Promise<string> {
  const file = join(await newDirectory(), 'definition.json');
  writeFileSync(file, content, { mode: 0o600 });
  return file;
}

const server = ['--set', 'address=10.0.0.9', '--set', 'port=5432', '--set', 'protocol=pg'];

describe('gateway-admin create', () => {
  it.each([
    [['service', 'S'], 'services/my-service', 'create service takes no --in.'],
    [['filter', 'F'], 'monitors/m', 'create filter takes --in services/NAME, and not --in monitors/m.'],
    [
      ['server', 'db-9'],
      'my-service',
      'create server takes --in services/NAME and --in monitors/NAME, and not --in my-service.',
    ],
  ])('refuses a list that cannot have the resource: %j in %s', async (words, list, told) => {
    const { code, err } = await ask(['create', ...words, '--set', 'router=cli', '--in', list]);
    expect([code, err]).toEqual([2, expect.stringContaining(told)]);
    expect(running.gateway.calls).toEqual([]);
  });

  it.each([
    ['create', 'listener', 'My-Service'],
    ['delete', 'listener', 'My-Service', '--yes'],
    ['create', 'server', 'db-9', 'second'],
    ['delete', 'server', 'db-9', 'second', '--yes'],
  ])('wants two names of a listener, and one of anything else: %s %s %s', async (...args) => {
    const { code, err } = await ask(args);
    expect([code, err]).toEqual([2, expect.stringContaining('A listener needs the name of its service')]);
    expect(running.gateway.calls).toEqual([]);
  });

  it.each<[string, readonly string[], string, string?]>([
    ['another name', ['--set', 'name=db-8'], 'create takes the name as an argument, and not as a setting.'],
    ['a setting without a value', ['--set', 'port'], 'create needs a path and a value: --set PATH=VALUE.'],
    [
      'a place beyond the end of a list',
      ['--set', 'servers/1=/servers/a'],
      'create has no place "1" in a list.',
    ],
    ['a file that is no JSON', ['--file', '-'], 'The file is no definition: ', '{'],
    ['a file with a list', ['--file', '-'], 'The file is no definition: It must be a JSON object.', '[]'],
  ])('refuses %s, and sends nothing', async (_what, options, told, input = '') => {
    const { code, err } = await ask(['create', 'server', 'db-9', ...options], { input });
    expect([code, err]).toEqual([2, expect.stringContaining(told)]);
    expect(running.gateway.calls).toEqual([]);
  });

});

describe('gateway-admin delete', () => {
  it.each([
    ['listener', 'my-service', 'local-listener'],
    ['service', 'spare-service'],
    ['monitor', 'idle-monitor'],
  ])('takes no --detach for a %s, which no list names', async (kind, ...names) => {
    const { code, err } = await ask(['delete', kind, ...names, '--detach', '--yes']);
    expect([code, err]).toEqual([2, expect.stringContaining(`No list names a ${kind}: leave out --detach.`)]);
    expect(running.gateway.calls).toEqual([]);
  });

});
