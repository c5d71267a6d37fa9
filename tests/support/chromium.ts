/**
 * The Chromium of the tests. npm installs one for Linux on x64. Elsewhere, the tests take one that the machine has.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';

import type { Browser, BrowserType } from 'playwright-core';

import { read, root } from './project.ts';

const run = promisify(execFile);

/** How to start a Chromium: its file, and the variables of its environment. */
interface Chromium {
  readonly path: string;
  readonly variables: Readonly<Record<string, string>>;
}

/** Gives the Chromium in `CHROMIUM_PATH`, the installed one, or one in a usual place; `undefined` if there is none. */
export async function findChromium(): Promise<Chromium | undefined> {
  const given = process.env['CHROMIUM_PATH'];
  if (given !== undefined) return { path: given, variables: {} };
  if (process.platform === 'linux' && process.arch === 'x64') return installed();
  const path = usualPlaces().find((place) => existsSync(place));
  return path === undefined ? undefined : { path, variables: {} };
}

/** Starts a Chromium. */
export async function launch(playwright: BrowserType, { path, variables }: Chromium): Promise<Browser> {
  const options = {
    executablePath: path,
    env: { ...process.env, ...variables },
    args: ['--host-resolver-rules=MAP *.example 127.0.0.1', '--no-proxy-server'],
  };
  const start = (chromiumSandbox: boolean): Promise<Browser> =>
    playwright.launch({ ...options, chromiumSandbox });
  // Chromium has no sandbox for root.
  const hasSandbox = process.getuid?.() !== 0;
  try {
    return await start(hasSandbox);
  } catch (error) {
    // Many containers, and AppArmor on some systems, forbid the namespaces that the sandbox needs.
    if (String(error).includes('sandboxing failed')) return start(false);
    // Chromium itself can crash as it starts, once in some hundred times.
    if (String(error).includes('signal=SIGSEGV')) return start(hasSandbox);
    throw error;
  }
}

/** The Chromium of the package, unpacked at the first call after `npm ci`. */
async function installed(): Promise<Chromium> {
  const { version } = JSON.parse(read('node_modules/@sparticuz/chromium/package.json')) as {
    version: string;
  };
  const folder = join(root, 'node_modules/.cache', `chromium-${version}`);
  if (!existsSync(folder)) await unpack(folder);
  const path = join(folder, 'chromium');
  // With this variable, the loader lists the libraries and runs nothing.
  const { stdout } = await run(path, { env: { LD_TRACE_LOADED_OBJECTS: '1' } });
  // A system's own libraries come first: those of the package need a newer C library than Chromium does. Pages over
  // HTTPS also need libsqlite3, which the package lacks.
  const libraries = stdout.includes('not found') ? { LD_LIBRARY_PATH: join(folder, 'al2023/lib') } : {};
  // Adds the fonts of the package to those of the system. Without any font, texts have no height.
  return { path, variables: { ...libraries, XDG_DATA_HOME: folder } };
}

/** Unpacks beside the folder, then renames: another process sees all files or none. */
async function unpack(folder: string): Promise<void> {
  await mkdir(dirname(folder), { recursive: true });
  const own = await mkdtemp(`${folder}-`);
  try {
    const program = `import chromium from '@sparticuz/chromium'; await chromium.executablePath();`;
    // The package unpacks into the directory for temporary files, and unpacks libraries only for this host.
    const env = { ...process.env, TMPDIR: own, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs20.x' };
    await run(process.execPath, ['--input-type=module', '--eval', program], { cwd: root, env });
    await rename(own, folder);
  } catch (error) {
    // Another process was faster.
    if (!existsSync(folder)) throw error;
  } finally {
    await rm(own, { recursive: true, force: true });
  }
}

function usualPlaces(): readonly string[] {
  const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];
  const ending = process.platform === 'win32' ? '.exe' : '';
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const programs = ['PROGRAMFILES', 'PROGRAMFILES(X86)', 'LOCALAPPDATA'].map(
    (name) => process.env[name] ?? '',
  );
  return [
    ...folders.flatMap((folder) => names.map((name) => join(folder, name + ending))),
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
    ...programs.map((folder) => join(folder, 'Google/Chrome/Application/chrome.exe')),
  ];
}
