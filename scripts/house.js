/**
 * Measures the sources: `npm run house`. Prints the lines of code, the public names, the files that name a kind, the
 * type circles, the longest functions, and what one operation runs. No figure has a limit here; those of the last
 * table have one in `npm run counts`.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, posix } from 'node:path';
import { fileURLToPath } from 'node:url';

import ts from 'typescript';

import { counts } from '../bench/counts.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const source = `${root}src/`;

/** The page of the console, as it is reached from the sources. */
const page = '../console/';

const files = [...namesBelow(''), ...namesBelow(page)]
  .map((name) => ({ name, tree: treeOf(name) }))
  .filter(({ tree }) => !/^\/\*\*? Generated\b/.test(tree.text));

console.log('Lines of code, by folder');
console.table(linesByFolder());
console.log(`Public names of the main entry: ${String(publicNames().length)}`);
console.log('\nFiles that name a kind, without its own');
for (const [kind, names] of Object.entries(filesByKind()))
  console.log(`  ${kind}: ${String(names.length)}: ${names.join(' ')}`);
console.log('\nType circles: the number of files in each');
console.log(
  circles()
    .map((circle) => `  ${String(circle.length)}: ${circle.join(' ')}`)
    .join('\n'),
);
console.log('\nLongest functions');
console.table(longestFunctions().slice(0, 10));
console.log('What one operation runs');
console.table(await counts());

/** The sources of a folder, by their paths from `src/`. */
function namesBelow(folder) {
  return readdirSync(source + folder, { recursive: true })
    .map((name) => folder + name.replaceAll('\\', '/'))
    .filter((name) => /\.tsx?$/.test(name))
    .toSorted();
}

function treeOf(name) {
  const text = readFileSync(source + name, 'utf8');
  return ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true);
}

/** The tokens of a node. Comments are no tokens. */
function* tokens(node, tree) {
  const parts = node.getChildren(tree).filter((each) => !ts.isJSDoc(each));
  if (parts.length === 0 && node.getWidth(tree) > 0) yield node;
  for (const part of parts) yield* tokens(part, tree);
}

/** The numbers of the lines that have code. */
function codeLines(node, tree) {
  const lines = new Set();
  for (const token of tokens(node, tree)) {
    const first = tree.getLineAndCharacterOfPosition(token.getStart(tree)).line;
    const last = tree.getLineAndCharacterOfPosition(token.getEnd()).line;
    for (let line = first; line <= last; line++) lines.add(line);
  }
  return lines.size;
}

function linesByFolder() {
  const folders = {};
  for (const { name, tree } of files) {
    const lines = codeLines(tree, tree);
    for (const folder of [folderOf(name), 'all']) {
      const row = (folders[folder] ??= { lines: 0, files: 0 });
      row.lines += lines;
      row.files++;
    }
  }
  const { all, ...rest } = folders;
  return { ...rest, all };
}

function folderOf(name) {
  if (name.startsWith(page)) return 'the page of the console';
  return name.includes('/') ? name.split('/')[0] : '(top)';
}

function publicNames() {
  const { tree } = files.find(({ name }) => name === 'index.ts');
  return tree.statements.flatMap(
    ({ exportClause }) => exportClause?.elements.map(({ name }) => name.text) ?? [],
  );
}

/** A kind is named by a word of an identifier or a text: `monitor`, `patchMonitor`, `'monitors'`. */
function filesByKind() {
  const kinds = ['service', 'server', 'monitor', 'filter', 'user'];
  return Object.fromEntries(
    kinds.map((kind) => {
      const pattern = new RegExp(`(?:^|[^A-Za-z]|[a-z](?=[A-Z]))${kind}s?(?![a-z])`, 'i');
      const named = files.filter(
        ({ name, tree }) =>
          name !== `resources/${kind}.ts` && [...tokens(tree, tree)].some((token) => isNamed(token, pattern)),
      );
      return [kind, named.map(({ name }) => name)];
    }),
  );
}

/** Whether a token names the kind. Prose is not counted: a text with a blank. */
function isNamed(token, pattern) {
  if (ts.isStringLiteral(token) || ts.isTemplateLiteralToken(token))
    return !/\s/.test(token.text) && pattern.test(token.text);
  // `list.filter(…)` names no filter.
  if (
    ts.isIdentifier(token) &&
    ts.isPropertyAccessExpression(token.parent) &&
    ts.isCallExpression(token.parent.parent)
  )
    return token.text !== 'filter' && pattern.test(token.text);
  return (ts.isIdentifier(token) || ts.isRegularExpressionLiteral(token)) && pattern.test(token.text);
}

/** The groups of files that reach each other over imports, of types too; the largest first. */
function circles() {
  const graph = new Map(files.map(({ name, tree }) => [name, importsOf(name, tree)]));
  const reach = new Map([...graph.keys()].map((name) => [name, reachable(graph, name)]));
  const groups = new Map();
  for (const [name, reached] of reach) {
    const group = [...reached].filter((other) => reach.get(other)?.has(name)).toSorted();
    if (group.length > 1) groups.set(group.join(), group);
  }
  return [...groups.values()].toSorted((one, other) => other.length - one.length);
}

function importsOf(name, tree) {
  const found = [];
  const visit = (node) => {
    const text =
      node.moduleSpecifier?.text ?? (ts.isImportTypeNode(node) ? node.argument.literal.text : undefined);
    if (text?.startsWith('.')) found.push(posix.normalize(`${dirname(name)}/${text}`));
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}

function reachable(graph, from) {
  const reached = new Set();
  const pending = [from];
  for (let name = pending.pop(); name !== undefined; name = pending.pop())
    for (const next of graph.get(name) ?? []) {
      if (reached.has(next)) continue;
      reached.add(next);
      pending.push(next);
    }
  return reached;
}

function longestFunctions() {
  const found = [];
  for (const { name, tree } of files) {
    const visit = (node) => {
      if (ts.isFunctionLike(node) && node.body !== undefined)
        found.push({
          lines: codeLines(node, tree),
          function: node.name?.getText(tree) ?? '(no name)',
          file: name,
        });
      ts.forEachChild(node, visit);
    };
    visit(tree);
  }
  return found.toSorted((one, other) => other.lines - one.lines);
}
