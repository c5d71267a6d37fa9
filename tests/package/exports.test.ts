/**
 * What users can import: the entries, their names, the arguments of their functions, and the files of the package.
 */
import { execFileSync } from 'node:child_process';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import * as main from 'gateway-admin-core';
import {
  type Admin,
  createAdmin,
  createSnapshot,
  defaultLimits,
  measurementTable,
  problemTable,
  routes,
} from 'gateway-admin-core';
import * as auditFile from 'gateway-admin-core/audit-file';
import * as client from 'gateway-admin-core/client';
import { createConsole } from 'gateway-admin-core/console';
import * as fetchAdapter from 'gateway-admin-core/fetch';
import * as fileStore from 'gateway-admin-core/file-store';
import * as messagePort from 'gateway-admin-core/message-port';
import * as node from 'gateway-admin-core/node';
import * as openapi from 'gateway-admin-core/openapi';
import * as scrypt from 'gateway-admin-core/scrypt';
import * as testing from 'gateway-admin-core/testing';
import ts from 'typescript';

import { destinationOf, targetsOf } from '../docs/link.ts';
import { buildPackage, packed } from '../support/built-package.ts';
import { compilerOptions, userOptions } from '../support/compiler.ts';
import { thawedPlaces } from '../support/frozen.ts';
import { exists, read, root } from '../support/project.ts';

interface Manifest {
  readonly name: string;
  readonly exports: Readonly<
    Record<string, string | { readonly types: string; readonly node: string; readonly default: string }>
  >;
}

const { name, exports } = JSON.parse(read('package.json')) as Manifest;
const entries = Object.entries(exports).flatMap(([subpath, target]) =>
  typeof target === 'string'
    ? []
    : [{ subpath, target, built: target.default.replace(/^\.\/dist\/|\.js$/g, '') }],
);

describe.each(entries)('the entry $subpath of the package', ({ subpath, target, built }) => {
  it('is built from a source', () => {
    expect(target).toEqual({
      types: `./dist/types/${built}.d.ts`,
      node: `./dist/node/${built}.js`,
      default: `./dist/${built}.js`,
    });
    expect(exists(`src/${built}.ts`)).toBe(true);
  });

  it('means its source when tests and documentation import it', () => {
    expect(compilerOptions('tsconfig.json').paths?.[`${name}${subpath.slice(1)}`]).toEqual([
      `./src/${built}.ts`,
    ]);
  });

  it('is part of the API report', () => {
    expect(read('etc/api/entry.d.ts')).toContain(`from '../../dist/types/${built}.js';`);
  });
});

describe('the declarations', () => {
  beforeAll(buildPackage);

  it('reach no other package than the types of Node, and nothing that is not declared', () => {
    const program = ts.createProgram(
      entries.map(({ target }) => root + target.types.slice(2)),
      { ...userOptions(), skipLibCheck: false, skipDefaultLibCheck: true },
    );
    const files = program.getSourceFiles();
    const packages = files.map(
      ({ fileName }) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(fileName)?.[1],
    );
    expect([...new Set(packages)].sort()).toEqual(['@types/node', 'typescript', 'undici-types', undefined]);
    const own = files.filter(({ fileName }) => fileName.startsWith(`${root}dist/types/`));
    expect(own.flatMap((file) => program.getSemanticDiagnostics(file))).toEqual([]);
  });
});

describe('the files for Node', () => {
  beforeAll(buildPackage);

  it('have the exports of the modules, and share one of each', () => {
    const program = `
      const files = ${JSON.stringify({ node: filesFor('node'), modules: filesFor('default') })};
      const load = (list) => Promise.all(list.map((file) => import(file)));
      const [node, modules] = [await load(files.node), await load(files.modules)];
      const { AdminError, DamagedStoreError } = Object.assign({}, ...node);
      const isShared = Object.getPrototypeOf(DamagedStoreError) === AdminError;
      console.log(JSON.stringify([node.map(Object.keys), modules.map(Object.keys), isShared]));`;
    const output = execFileSync(process.execPath, ['--input-type=module', '-e', program], {
      encoding: 'utf8',
    });
    const [forNode, modules, isShared] = JSON.parse(output) as readonly [string[][], string[][], boolean];
    expect(isShared).toBe(true);
    expect(forNode).toEqual(modules);
    expect(modules.flat()).toContain('createSnapshot');
  });
});

function filesFor(condition: string): readonly string[] {
  return entries.map(({ target }) => `${root}${target[condition as 'node' | 'default'].slice(2)}`);
}

/** The names that an entry exports. */
function publicNames(path: string): readonly string[] {
  const source = ts.createSourceFile(path, read(path), ts.ScriptTarget.ES2023, true);
  return source.statements.flatMap((statement) => {
    if (ts.isExportDeclaration(statement)) {
      const clause = statement.exportClause;
      if (clause === undefined || !ts.isNamedExports(clause))
        throw new Error('The entry exports names alone');
      return clause.elements.map(({ name }) => name.text);
    }
    const isExported =
      ts.canHaveModifiers(statement) &&
      ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true;
    return isExported ? [(statement as ts.DeclarationStatement).name?.getText() ?? ''] : [];
  });
}

describe('the main entry', () => {
  // A name that comes in displaces one: a reader has to learn all of them. `May` is the type of an answer, as `Plan`
  // is.
  it('has at most 134 names', () => {
    expect(publicNames('src/index.ts').length).toBeLessThanOrEqual(134);
  });

  it('has tables that nobody can change', () => {
    const lists = routes.flatMap((route) => [
      route,
      ...[route.aliases, route.query, route.search, route.fields, route.mediaTypes],
    ]);
    expect(lists.filter((list) => !Object.isFrozen(list))).toEqual([]);
    expect(thawedPlaces({ problemTable, defaultLimits, measurementTable })).toEqual(['(the whole)']);
  });
});

it('the entry of the console has three names', () => {
  expect(publicNames('src/console/index.ts').toSorted()).toEqual([
    'Console',
    'ConsoleOptions',
    'createConsole',
  ]);
});

/** Gives the message of what a call throws, or of what its promise rejects with. */
async function messageOf(call: () => unknown): Promise<string | undefined> {
  try {
    await call();
  } catch (error) {
    return (error as Error).message;
  }
  return undefined;
}

const snapshot = createSnapshot({});
const gateway = { apply: () => Promise.resolve(), inspect: () => Promise.resolve('in-place' as const) };
const admin = createAdmin({ snapshot, gateway });
const { port1 } = new MessageChannel();

afterAll(() => {
  port1.close();
});

const open = (): Promise<typeof gateway> => Promise.resolve(gateway);

it.each<[string, (options: never) => unknown]>([
  ['createPbkdf2Hasher', (options) => main.createPbkdf2Hasher(options)],
  ['createScryptHasher', (options) => scrypt.createScryptHasher(options)],
  ['createSecretSealer', (options) => main.createSecretSealer(options)],
  ['createBasicAuthentication', (options) => main.createBasicAuthentication(options)],
  ['createConsole', createConsole],
  ['createFetchHandler', (options) => fetchAdapter.createFetchHandler(admin, options)],
  ['createNodeHandler', (options) => node.createNodeHandler(admin, options)],
  ['serve', (options) => messagePort.serve(admin, port1, options)],
  ['createOpenApi', (options) => openapi.createOpenApi(options)],
  ['openFileStore', (options) => fileStore.openFileStore('/dev/null/x', options)],
  ['openAuditFile', (options) => auditFile.openAuditFile('/dev/null/x', options)],
  ['createVirtualClock', (options) => testing.createVirtualClock(0, options)],
  ['gatewayAudits', (options) => testing.gatewayAudits({}, open, options)],
  ['createScriptedGateway', (options: object) => testing.createScriptedGateway({ snapshot, ...options })],
])('the options of %s have no misspelt name', async (_name, call) => {
  const message = await messageOf(() => call({ mispelt: 1 } as never));
  expect(message).toMatch(/^There is no option of \w+ with the name "mispelt"/);
});

describe('arguments are named', () => {
  it.each<[string, () => unknown]>([
    ['options must be an object', () => scrypt.createScryptHasher(null as never)],
    ['options must be an object', () => scrypt.createScryptHasher(5 as never)],
    ['The cost of scrypt must be', () => scrypt.createScryptHasher({ cost: '1024' as never })],
    ['user must be an object', () => admin.createFirstUser(null as never)],
    ['directory must be a path', () => fileStore.openFileStore(undefined as never)],
    ['directory must be a path', () => fileStore.openFileStore('')],
    ['directory must be a path', () => auditFile.openAuditFile({} as never)],
    ['createFetchHandler needs the interface', () => fetchAdapter.createFetchHandler(undefined as never)],
    ['createNodeHandler needs the interface', () => node.createNodeHandler({} as Admin)],
    ['serve needs the interface', () => messagePort.serve(undefined as never, port1)],
    ['port must be a message port', () => messagePort.serve(admin, {} as never)],
    ['port must be a message port', () => messagePort.connect('x' as never)],
    ['adminPath must be a string', () => createConsole({ adminPath: 5 as never })],
    ['logInPath must be a string', () => createConsole({ logInPath: null as never })],
    ['adminPath must be a path', () => createConsole({ adminPath: '//host.example/' })],
    ['logInPath must be a path', () => createConsole({ logInPath: 'https://host.example/' })],
    ['sendTo needs the interface', () => client.sendTo({} as never)],
    ['send must be a function', () => client.withEtags(null as never)],
    ['snapshot must come from createSnapshot', () => testing.createScriptedGateway({} as never)],
    ['open must be a function', () => testing.gatewayAudits({}, undefined as never)],
    ['createPlace must be a function', () => testing.storeAudits(null as never)],
  ])('%s', async (message, call) => {
    expect(await messageOf(call)).toContain(message);
  });
});

// Promise: package-links
it('the pages of the package link only to files of the package, and to pictures of the screen', () => {
  const files = packed().files.map(({ path }) => path);
  const pages = files.filter((path) => path.endsWith('.md') || path === 'llms.txt');
  expect(pages).toEqual(expect.arrayContaining(['README.md', 'docs/README.md', 'llms.txt']));
  const lost = pages.flatMap((page) =>
    targetsOf(read(page))
      .map((target) => destinationOf(page, target).file)
      .filter((file) => !files.includes(file) && !(/^docs\/pictures\/.*\.png$/.test(file) && exists(file)))
      .map((file) => `${page}: ${file}`),
  );
  expect(lost).toEqual([]);
});
