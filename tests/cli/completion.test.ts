import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createBasicAuthentication, createSnapshot } from 'gateway-admin-core';

import { buildPackage } from '../support/built-package.ts';
import { root } from '../support/project.ts';
import { runAdmin } from '../support/running-admin.ts';
import { temporaryDirectories } from '../support/temporary-directory.ts';
import { itOnTerminal, onTerminal } from '../support/terminal.ts';
import { until } from '../system/running-gateway.ts';
import { command, servers } from './command-line.ts';

const serve = servers(afterEach);
const newDirectory = temporaryDirectories();
let url = '';

beforeEach(async () => {
  url = await serve(runAdmin().admin);
});

async function wordsAfter(...words: readonly string[]): Promise<readonly string[]> {
  const { out } = await command(['complete', '--', ...words], { env: { GATEWAY_ADMIN_URL: url } });
  return out.split('\n').slice(0, -1);
}

describe('gateway-admin complete', () => {
  it.each([
    [['clo'], ['close']],
    [['un'], ['undo']],
    [['help', 'ab'], ['abandon']],
    [
      ['stop', ''],
      ['service', 'monitor'],
    ],
    [
      ['stop', 'service', ''],
      ['My-Service', 'Bare-Service', 'Report-Service', 'Spare-Service'],
    ],
    [['stop', 'services', 'B'], ['Bare-Service']],
    [['stop', '--dry-run', 'monitor', 'I'], ['Idle-Monitor']],
    [['close', 'sessions', 'My'], ['My-Service']],
    [
      ['close', 'session', ''],
      ['0', '9', '12'],
    ],
    [['close', 'session', '9', '1'], ['12']],
    [
      ['close', 'connections', 'db-serv-'],
      ['db-serv-1', 'db-serv-3'],
    ],
    [
      ['set', 'server', 'DB'],
      ['db-serv-1', 'DB-Server-2', 'db-serv-3'],
    ],
    [
      ['set', 'server', 'db-server-2', ''],
      ['db-serv-1', 'db-serv-3', 'Spare-DB', 'maintenance'],
    ],
    [['drain', 'service', 'my-service', 'bare-service', 's'], ['Spare-Service']],
    [['STOP'], ['stop']],
    [['help', 'OPT'], ['options']],
    [
      ['drain', 'service', '--then', ''],
      ['close', 'resume'],
    ],
    [
      ['list', 'services', '-o', ''],
      ['wide', 'name', 'json', 'jsonpath='],
    ],
    [['list', 'services', '--output=W'], ['--output=wide']],
    [['list', 'sessions', '--service', 'rep'], ['Report-Service']],
    [['list', 'sessions', '--server=DB-SERVER'], ['--server=DB-Server-2']],
    [
      ['list', 'services', '--sort', 'state'],
      ['state', 'state_reason', 'state_since'],
    ],
    [
      ['list', 'services', '--sort=-ROU'],
      ['--sort=-router', '--sort=-router_options'],
    ],
    [['list', 'servers', '--fields', 'name,PO'], ['name,port']],
    [['stop', 'service', '--where', 'max'], ['max_connection=']],
    [
      ['stop', 'service', '--where', 'STATE='],
      ['state=started', 'state=stopped', 'state=failed', 'state=drained'],
    ],
    [['patch', 'server', '--where=status=MAI'], ['--where=status=maintenance']],
    [['list', 'services', '--where', 'servers=db-server'], ['servers=DB-Server-2']],
    [
      ['explain', 'S'],
      ['service.', 'server.', 'session.'],
    ],
    [['explain', 'service.max'], ['service.max_connection']],
    [
      ['why', '/serv'],
      ['/services/', '/servers/'],
    ],
    [['why', '/services/rep'], ['/services/Report-Service']],
    [['create', 'server', 'x', '--in', 'services/REP'], ['services/Report-Service']],
    [['open', 'service', 'b'], ['Bare-Service']],
    [['list', 'listeners', 'R'], ['Report-Service']],
    [['show', 'filter', 'S'], ['Spare']],
    [
      ['create', ''],
      ['service', 'server', 'monitor', 'filter', 'listener'],
    ],
    [['create', 'server', ''], []],
    [['delete', 'listener', 'R'], ['Report-Service']],
    [['delete', 'server', 'S'], ['Spare-DB']],
    [['delete', '--de'], ['--detach']],
    [
      ['user', 'delete', ''],
      ['ada', 'Grace'],
    ],
    [['user', 'add', ''], []],
    [['flush', '--d'], ['--dry-run']],
    [['apply', ''], []],
    [['flush', ''], []],
    [
      ['stop', 'service', 'My-Service', ''],
      ['Bare-Service', 'Report-Service', 'Spare-Service'],
    ],
    [['nothing', ''], []],
    [['--url'], ['--url']],
    [['--url', ''], []],
    [['--json', 'clo'], ['close']],
    [
      ['--fields=name', '--user', '', 'stop', ''],
      ['service', 'monitor'],
    ],
    [['--json', 'stop', 'service', 'B'], ['Bare-Service']],
  ])('after %j offers %j', async (words, offered) => {
    expect(await wordsAfter(...words)).toEqual(offered);
  });

  it('offers contexts by name, in the option and in the command', async () => {
    const env = { XDG_CONFIG_HOME: await newDirectory() };
    for (const name of ['Prod', 'staging']) await command(['context', 'add', name, '--url', url], { env });
    for (const words of [
      ['list', 'services', '--context', 'p'],
      ['context', 'use', 'P'],
      ['context', 'remove', 'pr'],
    ])
      expect((await command(['complete', '--', ...words], { env })).out).toBe('Prod\n');
  });

  it.each(['constructor', '__proto__'])('offers nothing after close %s', async (word) => {
    expect(await wordsAfter('close', word, '')).toEqual([]);
  });

  it('offers no name that would be an option, or more than one line', async () => {
    const names = ['--url=http://192.0.2.1', '-x', 'Plain'];
    const services = names.map((name) => ({ name, router: 'r' }));
    url = await serve(runAdmin({ snapshot: createSnapshot({ services }) }).admin);
    expect(await wordsAfter('stop', 'service', '')).toEqual(['Plain']);
  });

  it('offers nothing, and asks for no password, if the interface wants a log-in', async () => {
    url = await serve(runAdmin({ access: { authenticate: createBasicAuthentication() } }).admin);
    expect(await wordsAfter('stop', 'service', '')).toEqual([]);
    const env = { GATEWAY_ADMIN_URL: url, GATEWAY_ADMIN_USER: 'ada' };
    expect(await command(['complete', '--', 'stop', 'service', ''], { env, isTerminal: true })).toMatchObject(
      {
        code: 0,
        err: '',
      },
    );
    url = 'http://127.0.0.1:1';
    expect(await wordsAfter('stop', 'service', '')).toEqual([]);
  });
});

/** How each shell is asked what it offers after a command line; `last` is the last word that it should offer. */
const shells = {
  bash: (script: string, words: readonly string[]): readonly string[] => [
    '-c',
    `${script}
     COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${String(words.length - 1)}
     COMP_LINE=\${COMP_WORDS[*]}; COMP_POINT=\${#COMP_LINE}
     _gateway_admin; printf '%s\\n' "\${COMPREPLY[@]}"`,
  ],
  // The completion of zsh needs a terminal: a second zsh inside one lists what it would insert.
  zsh: (script: string, words: readonly string[], last: string): readonly string[] => [
    '-c',
    `zmodload zsh/zpty; zpty z zsh -f -i
     wait_for() {
       local all part
       for try in {1..200}; do
         while zpty -rt z part; do all+=$part; done
         [[ $all == *$1* ]] && break
         sleep 0.1
       done
       print -rn -- "$all"
     }
     zpty -w z 'PROMPT= ; autoload -Uz compinit; compinit -u -D; LISTMAX=0'
     zpty -w z ${quoted(`eval ${quoted(script)}`)}
     zpty -w z 'print rea''dy'; wait_for ready >/dev/null
     zpty -nw z ${quoted(words.join(' '))}$'\\t'; wait_for ${quoted(last)}`,
  ],
  fish: (script: string, words: readonly string[]): readonly string[] => [
    '--no-config',
    '-c',
    `${script}\ncomplete -C ${quoted(words.join(' '))}`,
  ],
} as const;

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

describe.each(Object.entries(shells))('gateway-admin completion %s', (shell, argumentsOf) => {
  const isThere = spawnSync(shell, ['-c', 'true']).status === 0;
  // eslint-disable-next-line no-restricted-properties -- Not every machine has every shell.
  const inShell = isThere ? it : it.skip;

  beforeAll(() => {
    buildPackage();
  });

  /** Installs the program for one user, with its completion. */
  async function prepare(): Promise<{
    readonly directory: string;
    readonly offered: (last: string, ...words: readonly string[]) => Promise<string>;
  }> {
    const directory = await newDirectory();
    const program = join(directory, 'gateway-admin');
    writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${root}dist/node/cli/main.js' "$@"\n`);
    chmodSync(program, 0o755);
    mkdirSync(join(directory, 'home'));
    const script = (await command(['completion', shell])).out;
    const env = () => ({
      ...process.env,
      PATH: `${directory}:${process.env['PATH'] ?? ''}`,
      HOME: join(directory, 'home'),
      GATEWAY_ADMIN_URL: url,
    });
    const offered = (last: string, ...words: readonly string[]): Promise<string> =>
      runShell(shell, argumentsOf(script, ['gateway-admin', ...words], last), env());
    return { directory, offered };
  }

  inShell('offers commands and names in the shell itself', async () => {
    const { offered } = await prepare();
    expect(await offered('close', 'clo')).toContain('close');
    const names = await offered('Report-Service', 'stop', 'service', '');
    for (const name of ['My-Service', 'Bare-Service', 'Report-Service']) expect(names).toContain(name);
    expect(await offered('Bare-Service', 'stop', 'service', 'Ba')).toContain('Bare-Service');
  });

  const hostile = ['$(touch${IFS}FILE)', '`touch${IFS}FILE`'];
  for (const name of hostile)
    inShell(`never runs a name such as ${name}`, async () => {
      const { offered, directory } = await prepare();
      const file = join(directory, 'ran');
      // The terminal of zsh wraps the long name: the short one tells that both are offered.
      const names = [name.replace('FILE', file), 'touched'];
      const services = names.map((each) => ({ name: each, router: 'r' }));
      url = await serve(runAdmin({ snapshot: createSnapshot({ services }) }).admin);
      expect(await offered('touched', 'stop', 'service', '')).toContain('touched');
      expect(existsSync(file)).toBe(false);
    });
});

describe('gateway-admin completion in a terminal with bash', () => {
  beforeAll(() => {
    buildPackage();
  });

  itOnTerminal.each([
    ['show service db:', 'db:1'],
    ['show service a=', 'a=b'],
    ['--url=URL show service db:m', 'db:main'],
    ['show service DB:M', 'db:main'],
    ['show service A', 'a=b'],
  ])('joins what bash divides at colons and equals signs: %s', async (typed, name) => {
    const services = ['db:1', 'db:main', 'a=b'].map((each) => ({ name: each, router: 'r' }));
    const shown = typed.endsWith('db:') ? services.filter((each) => each.name !== 'db:main') : services;
    url = await serve(runAdmin({ snapshot: createSnapshot({ services: shown }) }).admin);
    // The terminal goes back over the letter of the other case.
    const completed = typed.endsWith('DB:M') ? 'main' : name;
    const text = await typedInBash(`gateway-admin ${typed.replace('URL', url)}\t`, `${completed} `);
    expect(text).toMatch(new RegExp(`^name +${name}\\r$`, 'm'));
  });

  it('completes a field, goes on with its value, and leaves no space between them', async () => {
    const services = ['one', 'two'].map((each) => ({ name: each, router: 'r', servers: [] }));
    url = await serve(runAdmin({ snapshot: createSnapshot({ services }) }).admin);
    const text = await typedInBash(
      'gateway-admin list services -o name --where NAM\t',
      'name=',
      'T\t',
      'two ',
    );
    expect(text).toMatch(/^two\r$/m);
    expect(text).not.toMatch(/^one\r$/m);
  });
});

/** What a terminal with bash shows after a line was typed: parts, each with what must be shown then. */
async function typedInBash(...parts: readonly string[]): Promise<string> {
  const directory = await newDirectory();
  const { out } = await command(['completion', 'bash']);
  const program = `gateway-admin() { '${process.execPath}' '${root}dist/node/cli/main.js' "$@"; }`;
  writeFileSync(join(directory, 'rc'), `PS1='ready> '; bind 'set bell-style none'\n${program}\n${out}`);
  const { PATH } = process.env;
  const env = { PATH, TERM: 'dumb', HOME: directory, GATEWAY_ADMIN_URL: url };
  const { stdin, stdout } = onTerminal(`bash --noprofile --rcfile '${directory}/rc' -i`, env);
  let text = '';
  stdout.setEncoding('utf8').on('data', (part: string) => (text += part));
  await until('the shell is ready', () => text.includes('ready> '));
  for (let at = 0; at < parts.length; at += 2) {
    stdin.write(parts[at] ?? '');
    await until('the word is completed', () => text.includes(parts[at + 1] ?? ''));
  }
  stdin.write('\n');
  await until('the command has run', () => text.split('ready> ').length > 2);
  stdin.end('exit\n');
  await once(stdout, 'close');
  return text;
}

/** Not synchronously: the interface is in this process. */
async function runShell(shell: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)(shell, args, { env, timeout: 180_000 });
  return `${stdout}${stderr}`;
}
