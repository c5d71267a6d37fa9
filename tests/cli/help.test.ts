import { describe, expect, it } from '@jest/globals';

import { build } from 'esbuild';

import { commands } from '../docs/tables.ts';
import { read, root } from '../support/project.ts';
import { command } from './command-line.ts';

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
      for (const option of Object.keys(options)) expect(out).toMatch(new RegExp(`^ {2}--${option} `, 'm'));
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
