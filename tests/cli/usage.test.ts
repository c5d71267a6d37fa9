import { afterEach, describe, expect, it } from '@jest/globals';

import { build } from 'esbuild';

import { commands } from '../docs/tables.ts';
import { read, root } from '../support/project.ts';
import { runAdmin } from '../support/running-admin.ts';
import { temporaryDirectories } from '../support/temporary-directory.ts';
import { command, servers, wordsOf } from './command-line.ts';

const serve = servers(afterEach);
const newDirectory = temporaryDirectories();

describe('the help of gateway-admin', () => {
  it.each([[[]], [['help']], [['--help']], [['-h']]])('lists every command for %j', async (args) => {
    const { code, out } = await command(args);
    expect([code, out.split('\n')[0]]).toEqual([0, 'Usage: gateway-admin <command> [options]']);
    for (const [name, { does }] of commands) expect(out).toMatch(new RegExp(`^ {2}${name} +${does}$`, 'm'));
  });

  it.each([...commands])(
    'explains %s with each of its options',
    async (name, { does, options, arguments: given = [] }) => {
      const { code, out } = await command(['help', name]);
      expect([code, out]).toEqual([0, expect.stringContaining(`\n\n${does}\n\n`)]);
      for (const option of ['--help', '-h'])
        expect(await command([name, option])).toEqual({ code, out, err: '' });
      const connecting = (await command(['help', 'options'])).out;
      for (const option of Object.keys(options)) {
        const row = new RegExp(`^ {2}--${option}[ ,]`, 'm');
        expect(row.test(out) || row.test(connecting)).toBe(true);
        // Options of the connection stand in one place.
        if ('context' in options)
          expect(row.test(out) && ['url', 'user', 'key', 'json'].includes(option)).toBe(false);
      }
      for (const { choices = [] } of given) expect(out).toContain(choices.join(', '));
    },
  );

  it.each([['x'], ['constructor'], ['__proto__']])('says that there is no command %s', async (name) => {
    const told = `gateway-admin: There is no command "${name}". Try: gateway-admin help\n`;
    expect(await command([name])).toEqual({ code: 2, out: '', err: told });
    expect(await command(['help', name])).toEqual({ code: 2, out: '', err: told });
  });

  it('says its version', async () => {
    const { version } = JSON.parse(read('package.json')) as { readonly version: string };
    expect(await command(['--version'])).toEqual({ code: 0, out: `${version}\n`, err: '' });
  });
});

const examples = [...commands].flatMap(([name, { examples: lines }]) =>
  lines.map((line) => [name, line] as const),
);

describe('the examples in the help of gateway-admin', () => {
  it.each(examples)('of %s are calls that the program takes: %s', async (name, line) => {
    const url = await serve(runAdmin().admin);
    const { code, err } = await command(wordsOf(line), {
      env: { GATEWAY_ADMIN_URL: url, XDG_CONFIG_HOME: await newDirectory() },
      leavesWhen: () => true,
      leaves: AbortSignal.timeout(500),
    });
    expect((await command(['help', name])).out).toContain(`\n  gateway-admin ${line}\n`);
    // What the examples name is not there, and a question has no terminal.
    const isWrong = code === 2 && !/Nobody can be asked|There is no context/.test(err);
    expect([isWrong, err]).toEqual([false, err]);
  });
});

describe('the start of gateway-admin', () => {
  it('does not load the whole library, which only some commands need', async () => {
    const entry = 'src/cli/main.ts';
    const options = { bundle: true, platform: 'node', format: 'esm', packages: 'external' } as const;
    const { metafile } = await build({
      ...options,
      entryPoints: [entry],
      absWorkingDir: root,
      outdir: 'temp',
      write: false,
      metafile: true,
    });
    // A set that grows while it is walked.
    const loaded = new Set([entry]);
    for (const path of loaded)
      for (const each of metafile.inputs[path]?.imports ?? [])
        if (each.kind === 'import-statement') loaded.add(each.path);
    expect([...loaded]).toContain('src/client/client.ts');
    expect([...loaded].filter((path) => !/^(?:src\/|node:)/.test(path))).toEqual(['rfc6902']);
    expect([...loaded]).not.toContain('src/index.ts');
  });
});

const deadline = 'drain service x --then close --deadline';
const help = 'Try: gateway-admin help drain\n';
const time = '--deadline takes a time such as 90, 10m or 1h30m, and not';
const together = `drain takes --deadline and --then together, or neither. ${help}`;
const twoNames = 'A listener needs the name of its service';
const secret = 'patch takes no password as an argument';
const patch = 'patch server db-1';

/** Lines that are no command, what is told of each, and the standard input. */
const lines: readonly (readonly [line: string, told: string, input?: string])[] = [
  ['list', 'list needs a kind: services, '],
  ['list planets', 'list does not take "planets": services, '],
  ['list servces', '. Did you mean services? Try: '],
  ['list alerts', '. The alerts are in: gateway-admin status. Try: '],
  ['list services x', 'list services takes no name. Try: gateway-admin show services'],
  ['list listeners', 'list listeners needs the name of a service.'],
  ['list listeners x y', 'list takes a kind and a name; the rest are options.'],
  ['list connections', 'list connections needs the name of a server, or --session ID.'],
  ['list connections db --session 9', 'list connections takes the name of a server or --session'],
  ["list connections --session ''", 'The session has no id.'],
  ['list servers --session 9', 'Only connections can be listed of a session.'],
  ['list services --range 9', 'A range has the form 0-99'],
  ['list services --range', 'list needs a value after --range: --range 0-99.'],
  ['list services --range --fields', 'list needs a value after --range: --range 0-99.'],
  ['list services --service x', 'Only sessions can be searched: --service.'],
  ['list services --nothing', 'list takes no option --nothing. Try: gateway-admin help list'],
  ['list services -x', 'list takes no option -x. Try: gateway-admin help list'],
  ['list services --fileds=name', 'list takes no option --fileds. Did you mean --fields? Try: '],
  ['list services --jsn', 'list takes no option --jsn. Did you mean --json? Try: gateway-admin help list'],
  ['list services --js', 'list takes no option --js. Did you mean --json? Try: gateway-admin help list'],
  ['list services --json=true', 'list takes no value after --json.'],
  ['list services --url http://127.0.0.1:9/?a=b', 'The address must end with a path'],
  ['--ulr http://127.0.0.1:9 list services', 'There is no option --ulr. Did you mean --url? Try: '],
  [
    'alerts',
    'There is no command "alerts". The alerts are in: gateway-admin status. Try: gateway-admin help',
  ],
  ['lst services', 'There is no command "lst". Did you mean list? Try: gateway-admin help'],
  ['show service', 'show service needs a name.'],
  ["show service ''", 'show got an empty argument.'],
  ['show service ..', 'show got "..", and no URL can name such a resource.'],
  ['show gateway x', 'show gateway takes no name.'],
  ['abandon', 'abandon needs an id. Try: gateway-admin help abandon'],
  ['commands x', 'commands takes no arguments, only options.'],
  ['stop Sales', 'stop does not take "Sales": service, monitor.'],

  [
    'close sessions',
    'close sessions needs the name of a service, options that choose, such as --client, or --all.',
  ],
  ['close sessions --all --client bob', '--all stands alone.'],
  ['close sessions my-service --all', '--all stands alone.'],
  ['close sessions 9 12', 'close sessions takes the name of one service. '],
  ['close sessions a --service b', 'close sessions takes the name of a service or --service, not both.'],
  ['close sessions --idle-over 10m', '--idle-over must be a number of at least 0, such as --idle-over 600.'],
  ['close sessions --older-than=-1', '--older-than must be a number of at least 0'],
  ['close sessions --older-than 5w', 'a number of at least 0, or a time such as --older-than 1h30m.'],
  ['close sessions --service ..', '--service got "..", and no URL can name such a resource.'],
  ['close sessions --server=', '--server got "", and no URL can name such a resource.'],
  ['close sessions --user bi', 'options that choose, such as --client, or --all.'],
  ['close sessions --clinet bi', 'close takes no option --clinet. Did you mean --client? '],
  ['close session', 'close session needs an id.'],
  ['close session 9 --client bob', 'close session takes no option --client.'],
  ['close session 9 --all', 'close session takes no option --all.'],
  ['close connections', 'close connections needs the name of one server.'],
  ['close connections db-serv-1 db-server-2', 'close connections needs the name of one server.'],
  ['close connections db-serv-1 --older-than 5', 'close connections takes no option --older-than.'],

  ['drain service x --deadline 10m', together],
  ['drain service x --then close', together],
  [
    'drain service x --deadline 10m --then stop',
    `drain takes close, resume after --then, and not stop. ${help}`,
  ],
  ['drain service', `drain needs a name, or --where. ${help}`],
  ['stop service', 'stop needs a name, or --where. Try: gateway-admin help stop'],
  ['stop service a --where state=failed', 'stop takes names or --where, not both. Try: '],
  ['stop service --where failed', '--where takes FIELD=VALUE, such as state=failed, and not failed.'],
  ['stop service --where =x', '--where takes FIELD=VALUE, such as state=failed, and not =x.'],
  ['set server db-1', 'set does not take "db-1": maintenance.'],
  ['set server', 'set needs a status: maintenance.'],
  ['set server maintenance', 'set needs a name, or --where. Try: '],
  [
    `${patch} db-2 --set servers/0=x`,
    'patch takes a place in a list, such as servers/0, of one resource alone.',
  ],
  [`${patch} db-2 --set port=1 --if-match x`, 'patch takes --if-match for one resource alone.'],
  ['list services -o yaml', 'list takes wide, name, json, jsonpath=… after -o, and not yaml.'],
  ['list services -o wied', 'and not wied. Did you mean wide? Try: gateway-admin help list'],
  ['flush --output wide', 'flush takes json, jsonpath=… after --output, and not wide. Try: '],
  ['open service', 'open service needs a name.'],
  ['open sessions x', 'open sessions takes no name.'],
  ['explain servce', 'There is no kind "servce". Did you mean service? Try: gateway-admin explain'],
  [
    'explain service.max_conection',
    'service has no field max_conection. Did you mean max_connection? It has ',
  ],
  ['explain service.drain.untl', 'service.drain has no field untl. Did you mean until? It has '],
  [`${deadline} 5w`, `${time} 5w. ${help}`],
  [`${deadline} 1.5h`, `${time} 1.5h. ${help}`],
  [`${deadline} 30m1h`, `${time} 30m1h. ${help}`],
  [`${deadline} 1h30`, `${time} 1h30. ${help}`],
  [`${deadline} 0s`, `--deadline takes 1s to 365d, and not 0s. ${help}`],
  [`${deadline} 366d`, `--deadline takes 1s to 365d, and not 366d. ${help}`],

  ['create service S --set router=cli --in services/s', 'create service takes no --in.'],
  ['create filter F --in monitors/m', 'create filter takes --in services/NAME, and not --in monitors/m.'],
  [
    'create server x --in s',
    'create server takes --in services/NAME and --in monitors/NAME, and not --in s.',
  ],
  ['create listener My-Service', twoNames],
  ['delete listener My-Service', twoNames],
  ['create server db-9 second', twoNames],
  ['delete server db-9 second', twoNames],
  ['create server x --set name=y', 'create takes the name as an argument, and not as a setting.'],
  ['create server x --set port', 'create needs a path and a value: --set PATH=VALUE.'],
  ['create server x --set servers/1=/servers/a', 'create has no place "1" in a list.'],
  ['create server x --file -', 'The file is no definition: The text is not JSON: ', '{'],
  ['create server x --file -', 'The file is no definition: The text is empty.'],
  ['create server x --file -', 'The file is no definition: It must be a JSON object.', '[]'],
  ['delete listener x y --detach', 'No list names a listener: leave out --detach.'],
  ['delete service x --detach', 'No list names a service: leave out --detach.'],
  ['delete monitor x --detach', 'No list names a monitor: leave out --detach.'],

  [patch, 'patch needs an operation'],
  [`${patch} --set password=planted-secret`, secret],
  [`${patch} --set /password=planted-secret`, secret],
  [`${patch} --test password=planted-secret`, secret],
  [`${patch} --set parameters/password=planted-secret`, secret],
  [`${patch} --set parameters/password/value=planted-secret`, secret],
  [`${patch} --set port`, 'patch needs a path and a value: --set PATH=VALUE'],
  [`${patch} --set port=1 --file -`, 'patch takes --file, or single operations'],
  [`${patch} --file -`, 'The file is no JSON Patch: The text is not JSON: ', '[{'],

  ['list users --user ada:engine', 'The name of a user to log in has no colon.', 'x'],
  ['list services --user ada', 'give --password-file'],
  ['list services --url nonsense', 'The address must be a URL'],
  ['list services --url ftp://127.0.0.1', 'The address must be a URL'],
  ['list services --url http://ada:planted@127.0.0.1', 'The address must not contain a user or a password'],
  ['list services --timeout soon', '--timeout takes a number of seconds, such as 30, and not soon.'],
  ['list services --timeout 0', '--timeout takes more than 0 and at most 86400 seconds, and not 0.'],
  ['list services --timeout 2592000', 'takes more than 0 and at most 86400 seconds, and not 2592000.'],
];

describe('gateway-admin, when it is used wrongly,', () => {
  it.each(lines)(
    'sends nothing, and tells a person and a program why: %s',
    async (line, told, input = '') => {
      const circumstances = { env: { GATEWAY_ADMIN_URL: 'http://127.0.0.1:9' }, input };
      const { code, out, err } = await command(wordsOf(line), circumstances);
      expect([code, out, err]).toEqual([2, '', expect.stringMatching(/^gateway-admin: /)]);
      expect(err).toContain(told);
      expect(err).not.toContain('planted');
      const forPrograms = await command([...wordsOf(line), '--json'], circumstances);
      expect([forPrograms.code, forPrograms.out]).toEqual([2, '']);
      expect(JSON.parse(forPrograms.err)).toEqual({ detail: expect.stringContaining(told.trimEnd()) });
    },
  );
});
