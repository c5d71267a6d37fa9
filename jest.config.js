import { readFileSync } from 'node:fs';

const { name, exports } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));

/**
 * Tests import the package by its name and get the sources, not the build: as one module, or with `SOURCES=modules` as
 * the modules that they are.
 */
const isBundled = process.env.SOURCES !== 'modules';
const moduleNameMapper = Object.fromEntries([
  ...Object.entries(exports)
    .filter(([, target]) => target.default !== undefined)
    .map(([subpath, target]) => [
      `^${name}${subpath.slice(1)}$`,
      isBundled ? bundled(subpath.slice(2) || 'index') : sourceOf(target.default),
    ]),
  ...(isBundled ? ['internal', 'tables'].map((door) => [`/${door}\\.ts$`, bundled(door)]) : []),
]);

function sourceOf(built) {
  return built.replace(/^\.\/dist\/(.+)\.js$/, '<rootDir>/src/$1.ts');
}

/** See `tests/support/bundled-package.ts`. */
function bundled(entry) {
  return `<rootDir>/temp/package/${entry}.cjs`;
}

/**
 * Tests run in a context whose global object is a proxy: a use of a global takes half a microsecond there. Modules get
 * these as parameters instead. Only names that no test replaces and no module declares belong here.
 */
const sandboxInjectedGlobals = [
  'Array ArrayBuffer BigInt Boolean DataView Date Error Function Infinity Intl JSON Map Math Number Object Promise',
  'Proxy RangeError Reflect RegExp Set String Symbol SyntaxError TypeError Uint8Array WeakMap WeakSet',
].flatMap((names) => names.split(' '));

/** @type {import('jest').Config} */
export default {
  roots: ['<rootDir>/tests'],
  testMatch: ['**/*.test.ts'],
  transform: {
    '(?:\\.ts|/dist/console/page\\.js)$': [
      '@swc/jest',
      {
        swcrc: false,
        sourceMaps: 'inline',
        jsc: { parser: { syntax: 'typescript' }, target: 'es2023' },
        module: { type: 'commonjs' },
      },
    ],
  },
  moduleNameMapper: {
    ...moduleNameMapper,
    '^\\./runtime/create-admin\\.ts$': '<rootDir>/tests/support/watched-admins.ts',
    '^fast-check$': '<rootDir>/tests/support/fast-check.ts',
    // The build makes this module, see `scripts/console.js`.
    '(?:^\\.|/src/console)/page\\.js$': '<rootDir>/dist/console/page.js',
  },
  globalSetup: '<rootDir>/tests/support/before-all-tests.ts',
  setupFilesAfterEnv: ['<rootDir>/tests/support/watch-secrets.ts'],
  sandboxInjectedGlobals,
  // Stryker refuses a runner whose path does not contain jest-circus.
  testRunner: '<rootDir>/tests/support/jest-circus-runner.js',
  testSequencer: '<rootDir>/tests/support/longest-first.js',
  reporters: ['default', '<rootDir>/tests/support/summary-reporter.js'],
  // A limit is for tests that hang, not for tests on a slow machine.
  testTimeout: 300_000,
  // One more than two processors: many tests wait, for processes and for sockets.
  maxWorkers: 3,
  // Every test file leaves memory behind in its worker. A new worker loads and compiles every module anew.
  workerIdleMemoryLimit: '800MB',
};
