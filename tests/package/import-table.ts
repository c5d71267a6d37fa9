/**
 * Who may import what: the table of docs/architecture.md as data, and the check of one import against it.
 *
 * Paths are relative to src/. A `*` stands for anything but a slash. The first row whose `from` fits is the row of
 * a file; a file without a row is a fault.
 */
import ts from 'typescript';

import { read } from '../support/project.ts';

/** Files below src/ that may use Node: those of the last part of the build. */
const nodeOnly = ts.readConfigFile('src/tsconfig.node.json', read).config as {
  readonly include: readonly string[];
};

interface Row {
  readonly from: string;
  /** What may be imported as a value, and so also as a type. */
  readonly values: readonly string[];
  /** What may be imported with `import type` only. */
  readonly types?: readonly string[];
}

/** Problems and errors, which import nothing. */
const bottom = ['problem.ts', 'error.ts'];

const shapes = ['zod/mini', 'immer'];
const state = ['snapshot/*', 'snapshot/session/*'];
const sharedMay = ['core/*', 'http/*', 'json/*', ...bottom, ...state, 'resources/shared/*', ...shapes];
const kindMay = [...sharedMay, 'resources/snapshot.ts', 'resources/telemetry.ts'];
const beneathRuntime = [
  'core/*',
  'http/*',
  'json/*',
  ...bottom,
  ...state,
  'resources/*',
  'resources/shared/*',
];

const runtime = ['runtime/*', 'runtime/*/*'];
const fleetMay = [...beneathRuntime, ...runtime, 'ports/*', 'fleet/*', 'zod/mini'];
const testingMay = ['index.ts', 'json/index.ts', 'core/member.ts', 'testing/*', 'testing/*/*'];

const rows: readonly Row[] = [
  { from: 'problem.ts', values: [] },
  { from: 'error.ts', values: [] },
  { from: 'json/diff.ts', values: ['json/*', ...bottom, 'rfc6902'] },
  { from: 'json/*', values: ['json/*', ...bottom] },
  {
    from: 'core/time.ts',
    values: ['core/*', 'json/*', ...bottom, 'date-fns', 'date-fns/*', '@date-fns/utc/date/mini'],
  },
  { from: 'core/*', values: ['core/*', 'json/*', ...bottom, ...shapes] },
  { from: 'http/*', values: ['http/*', 'core/*', 'json/*', ...bottom], types: ['zod/mini'] },
  { from: 'snapshot/*', values: ['core/*', 'json/*', ...bottom, ...state, ...shapes] },
  { from: 'snapshot/session/*', values: ['core/*', 'json/*', ...bottom, ...state, ...shapes] },
  { from: 'resources/index.ts', values: [...kindMay, 'resources/*'] },
  { from: 'resources/document.ts', values: [...kindMay, 'resources/*'] },
  // The kinds are in the index, and creation is the same for each.
  { from: 'resources/membership.ts', values: [...kindMay, 'resources/*'] },
  { from: 'resources/additions.ts', values: [...kindMay, 'resources/*'] },
  { from: 'resources/partial-document.ts', values: [...kindMay, 'resources/*'] },
  { from: 'resources/drain.ts', values: [...kindMay, 'resources/*'] },
  // A listener is a part of its service.
  {
    from: 'resources/service.ts',
    values: [...kindMay, 'resources/listener.ts'],
    types: ['resources/*'],
  },
  // What is wrong is counted, and the words of a status are labels.
  { from: 'resources/metric.ts', values: [...kindMay, 'resources/alert.ts', 'resources/server.ts'] },
  {
    from: 'resources/alert.ts',
    values: [...kindMay, 'resources/alert-act.ts', 'resources/server.ts'],
    types: ['resources/*'],
  },
  { from: 'resources/alert-act.ts', values: [...kindMay, 'resources/server.ts'], types: ['resources/*'] },
  { from: 'resources/listening.ts', values: [...kindMay, 'resources/listener.ts'], types: ['resources/*'] },
  { from: 'resources/*', values: kindMay, types: ['resources/*'] },
  {
    from: 'resources/shared/*',
    values: sharedMay,
    // What a route sees of the running interface.
    types: ['command', 'fleet', 'history', 'interface', 'telemetry'].map((name) => `resources/${name}.ts`),
  },
  {
    from: 'runtime/*',
    values: [...beneathRuntime, ...runtime, 'ports/*'],
  },
  // The shapes of stored records.
  { from: 'runtime/journal/*', values: [...beneathRuntime, ...runtime, 'ports/*', 'zod/mini'] },
  { from: 'runtime/*/*', values: [...beneathRuntime, ...runtime, 'ports/*'] },
  {
    from: 'ports/port.ts',
    values: [],
    types: [
      'problem.ts',
      'ports/audit-record.ts',
      'core/*',
      'json/*',
      'http/*',
      'snapshot/*',
      'resources/*',
      'resources/shared/*',
    ],
  },
  {
    from: 'ports/audit-file/*',
    values: [
      'ports/port-error.ts',
      'core/member.ts',
      'ports/file/*',
      'ports/audit-file/*',
      'node:*',
      'node:*/*',
    ],
    types: ['ports/port.ts', 'ports/audit-record.ts'],
  },
  { from: 'ports/file/*', values: ['ports/file/*', 'ports/port-error.ts', 'error.ts', 'node:*', 'node:*/*'] },
  {
    from: 'ports/file-store/*',
    values: [
      'ports/port.ts',
      'ports/port-error.ts',
      'ports/file/*',
      'ports/file-store/*',
      'error.ts',
      'core/*',
      'json/*',
      'node:*',
      'node:*/*',
    ],
  },
  {
    from: 'ports/postgres-store/*',
    values: ['core/member.ts', 'ports/port-error.ts', 'ports/postgres-store/*', 'json/*', 'node:*', 'pg'],
    types: ['ports/port.ts'],
  },
  { from: 'ports/memory-store.ts', values: ['ports/port.ts', 'ports/port-error.ts', 'core/*', 'json/*'] },
  {
    from: 'ports/shared-memory-store.ts',
    values: ['core/member.ts', 'ports/port.ts', 'ports/memory-store.ts'],
  },
  { from: 'ports/scrypt-hasher.ts', values: ['ports/port.ts', 'core/*', 'json/*', 'node:*', 'node:*/*'] },
  {
    from: 'ports/basic-authentication.ts',
    values: ['ports/port.ts', 'core/member.ts', 'json/value.ts'],
    types: ['resources/snapshot.ts'],
  },
  { from: 'ports/*', values: ['ports/port.ts', 'core/*', 'json/*', ...bottom], types: ['http/*'] },
  {
    from: 'gateway-port/*',
    values: [
      'gateway-port/*',
      'ports/port-error.ts',
      'ports/system-clock.ts',
      'core/*',
      'json/*',
      'problem.ts',
      'resources/index.ts',
      'resources/listener.ts',
      'resources/shared/update-in-place.ts',
      'runtime/host/guard.ts',
      'snapshot/state.ts',
    ],
    types: [
      'ports/port.ts',
      'resources/*',
      'resources/shared/*',
      'runtime/admin.ts',
      'snapshot/session/table.ts',
    ],
  },
  {
    from: 'adapters/mount.ts',
    values: [
      'index.ts',
      'core/member.ts',
      'http/message.ts',
      'json/value.ts',
      'runtime/host/guard.ts',
      'runtime/host/host-error.ts',
    ],
  },
  { from: 'adapters/given-body.ts', values: [] },
  {
    from: 'adapters/node.ts',
    values: ['index.ts', 'adapters/mount.ts', 'adapters/given-body.ts', 'node:*', 'node:*/*'],
  },
  {
    from: 'adapters/message-port.ts',
    values: ['index.ts', 'adapters/mount.ts'],
    types: ['client/send.ts'],
  },
  { from: 'adapters/*', values: ['index.ts', 'adapters/mount.ts', 'adapters/given-body.ts'] },
  {
    from: 'cli/*',
    values: [
      'index.ts',
      'problem.ts',
      'http/endpoint.ts',
      'json/index.ts',
      'client/index.ts',
      'openapi/index.ts',
      'core/member.ts',
      'core/name.ts',
      'core/time.ts',
      'cli/*',
      'ports/scrypt-hasher.ts',
      'node:*',
      'node:*/*',
    ],
    types: ['alert', 'fleet', 'history'].map((name) => `resources/${name}.ts`),
  },
  {
    from: 'client/*',
    values: ['client/*', 'core/sentence.ts', 'http/endpoint.ts', 'json/*'],
    types: ['index.ts', 'resources/*'],
  },
  {
    from: 'console/*',
    values: ['console/*', 'core/member.ts', 'http/message.ts', 'json/value.ts', 'problem.ts'],
    types: ['index.ts'],
  },
  // The page uses the interface as any tool would.
  {
    from: '../console/*',
    values: ['../console/*', 'gateway-admin-core', 'gateway-admin-core/client', 'preact', 'preact/hooks'],
  },
  {
    from: 'openapi/*',
    values: ['../openapi.json', 'core/member.ts', 'json/value.ts'],
  },
  { from: 'testing/*', values: testingMay, types: ['fleet/index.ts'] },
  { from: 'testing/*/*', values: testingMay },
  { from: 'fleet/*', values: fleetMay },
  {
    from: 'index.ts',
    values: [...beneathRuntime, ...runtime, 'ports/*'],
  },
];

/** One import of one file. */
export interface Import {
  /** The file, relative to src/. */
  readonly from: string;
  /** What it imports: a path relative to src/, or the specifier of a package. */
  readonly to: string;
  /** `type` imports are gone once the sources are compiled. */
  readonly kind: 'value' | 'type';
}

/** All imports and re-exports of a file, dynamic ones and those inside types included. */
export function importsOf(from: string, text: string): readonly Import[] {
  const found: Import[] = [];
  const add = (specifier: ts.Node | undefined, typeOnly: boolean): void => {
    if (specifier === undefined) return;
    const to = ts.isStringLiteralLike(specifier) ? resolve(from, specifier.text) : specifier.getText();
    found.push({ from, to, kind: typeOnly ? 'type' : 'value' });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) {
      add(node.moduleSpecifier, node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword);
    } else if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, node.isTypeOnly);
    else if (ts.isImportTypeNode(node)) add(literalOf(node.argument), true);
    else if (isImportCall(node)) add(node.arguments[0], false);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(from, text, ts.ScriptTarget.ES2023, true));
  return found;
}

/** What is wrong with the imports, a sentence for each; empty when they keep to the table. */
export function faultsOf(imports: readonly Import[]): readonly string[] {
  return imports.flatMap((each) => {
    const fault = faultOf(each);
    return fault === undefined ? [] : [`${each.from}: ${fault}`];
  });
}

/** The first chain of value imports that leads back to where it started, if there is one. */
export function cycleOf(imports: readonly Import[]): readonly string[] | undefined {
  const targets = targetsOf(imports.filter(({ kind }) => kind === 'value'));
  const done = new Set<string>();
  const search = (path: readonly string[], here: string): readonly string[] | undefined => {
    if (path.includes(here)) return [...path.slice(path.indexOf(here)), here];
    if (done.has(here)) return undefined;
    for (const next of targets.get(here) ?? []) {
      const cycle = search([...path, here], next);
      if (cycle !== undefined) return cycle;
    }
    done.add(here);
    return undefined;
  };
  for (const start of targets.keys()) {
    const cycle = search([], start);
    if (cycle !== undefined) return cycle;
  }
  return undefined;
}

/** The groups of files of which each leads to each other, types included: where the cycles are. */
export function cyclicGroupsOf(imports: readonly Import[]): readonly (readonly string[])[] {
  const targets = targetsOf(imports);
  const reached = new Map([...targets.keys()].map((from) => [from, importedBelow(from, targets)]));
  const together = (a: string, b: string): boolean =>
    reached.get(a)?.has(b) === true && reached.get(b)?.has(a) === true;
  const files = [...reached.keys()].sort();
  const groups = files.map((file) => files.filter((other) => other === file || together(file, other)));
  return groups.filter(([first, ...others], at) => others.length > 0 && first === files[at]);
}

/** Everything that a file names, and what that names, types included; itself only when a way leads back. */
function importedBelow(start: string, targets: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const below = new Set(targets.get(start));
  for (const here of below) for (const to of targets.get(here) ?? []) below.add(to);
  return below;
}

/** What each file imports. */
function targetsOf(imports: readonly Import[]): ReadonlyMap<string, readonly string[]> {
  const targets = new Map<string, string[]>();
  for (const { from, to } of imports) targets.set(from, [...(targets.get(from) ?? []), to]);
  return targets;
}

/** Everything that is loaded when `start` is loaded: files of src/ and packages, `start` included. */
export function reachableFrom(start: string, imports: readonly Import[]): ReadonlySet<string> {
  const targets = targetsOf(imports.filter(({ kind }) => kind === 'value'));
  return new Set([start, ...importedBelow(start, targets)]);
}

function faultOf({ from, to, kind }: Import): string | undefined {
  const row = rows.find((each) => fits(each.from, from));
  if (row === undefined) return 'has no row in tests/package/import-table.ts';
  if (needsNode(to) && !needsNode(from)) return `must not import ${to}, which needs Node`;
  if (row.values.some((pattern) => fits(pattern, to))) return undefined;
  const asType = row.types?.some((pattern) => fits(pattern, to)) === true;
  if (asType && kind === 'type') return undefined;
  return asType ? `may import ${to} with "import type" only` : `must not import ${to}`;
}

function needsNode(path: string): boolean {
  return nodeOnly.include.some((each) => path === each || path.startsWith(`${each}/`));
}

function fits(pattern: string, path: string): boolean {
  const [patternParts, pathParts] = [pattern.split('/'), path.split('/')];
  if (patternParts.length !== pathParts.length) return false;
  return patternParts.every((part, position) => {
    const [head = '', tail] = part.split('*');
    const here = pathParts[position] ?? '';
    return tail === undefined ? here === part : here.startsWith(head) && here.endsWith(tail);
  });
}

/** A path relative to src/ for a relative specifier, with `..` in front where it leads out of src/. */
function resolve(from: string, specifier: string): string {
  if (!specifier.startsWith('.')) return specifier;
  const segments = from.split('/').slice(0, -1);
  for (const segment of specifier.split('/')) {
    if (segment === '..' && segments.length > 0 && segments.at(-1) !== '..') segments.pop();
    else if (segment !== '.') segments.push(segment);
  }
  return segments.join('/');
}

function literalOf(type: ts.TypeNode): ts.Node {
  return ts.isLiteralTypeNode(type) ? type.literal : type;
}

function isImportCall(node: ts.Node): node is ts.ImportCall {
  return ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword;
}
