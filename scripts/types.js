/**
 * Compiles programs that use the built package under each version of TypeScript that the package supports:
 * `npm run test:types`. The versions come from npm and stay in npm's cache.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const versions = ['5.6', '5.9', '6.0', '7.0'];
const projects = [
  { type: 'module', module: 'nodenext', moduleResolution: 'nodenext' },
  { type: 'module', module: 'esnext', moduleResolution: 'bundler' },
  // Before TypeScript 5.8, a CommonJS project cannot import ES modules.
  { type: 'commonjs', module: 'nodenext', moduleResolution: 'nodenext', notIn: '5.6' },
];
const programs = ['tests/client/compiled-call.ts'];

const root = fileURLToPath(new URL('..', import.meta.url));
const directory = join(root, 'temp', 'types');
rmSync(directory, { recursive: true, force: true });
mkdirSync(join(directory, 'node_modules'), { recursive: true });
symlinkSync(root, join(directory, 'node_modules', 'gateway-admin-core'), 'dir');
for (const program of programs)
  copyFileSync(join(root, program), join(directory, program.replaceAll('/', '-')));

const failed = versions.flatMap((version) =>
  projects
    .filter((project) => project.notIn !== version && !compiles(version, project))
    .map(({ type, module }) => `${version} ${type} ${module}`),
);
rmSync(directory, { recursive: true });
console.log(
  failed.length === 0 ? `Compiles under TypeScript ${versions.join(', ')}` : `Fails: ${failed.join(', ')}`,
);
process.exitCode = failed.length === 0 ? 0 : 1;

function compiles(version, { type, module, moduleResolution }) {
  const compilerOptions = {
    module,
    moduleResolution,
    target: 'es2022',
    lib: ['es2023', 'dom', 'esnext.disposable'],
    types: [],
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    noEmit: true,
  };
  writeFileSync(join(directory, 'package.json'), JSON.stringify({ type }));
  writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
  const { status, stdout } = spawnSync(
    'npm',
    ['exec', '--yes', `--package=typescript@${version}`, '--', 'tsc', '-p', directory],
    { cwd: directory, encoding: 'utf8', shell: process.platform === 'win32' },
  );
  console.log(`TypeScript ${version}, ${type}, ${module}: ${status === 0 ? 'ok' : `failed\n${stdout}`}`);
  return status === 0;
}
