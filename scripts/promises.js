/**
 * Writes into docs/promises.md which tests check each promise.
 *
 *     node scripts/promises.js           writes the page
 *     node scripts/promises.js --check   fails if the page is out of date
 *
 * The page has one entry for each promise, written by hand: "- `id`: a sentence". A test that checks the promise has the
 * comment "// Promise: id" directly above its `it`. The script finds those tests and lists them below the entry. Both
 * calls fail if a promise has no test, if a comment names an unknown promise, or if a comment stands above no test.
 */
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';

import ts from 'typescript';

const page = 'docs/promises.md';
const kinds = new Map([
  ['describe', 'group'],
  ['describe.each', 'group'],
  ['it', 'test'],
  ['it.each', 'test'],
]);

const tests = readdirSync('tests', { recursive: true })
  .map((path) => `tests/${path.replaceAll('\\', '/')}`)
  .filter((path) => path.endsWith('.ts'))
  .sort()
  .flatMap((path) => testsIn(path, readFileSync(path, 'utf8')));
const written = readFileSync(page, 'utf8');
const { text, ids } = withTests(written);

const problems = [
  ...ids
    .filter((id) => !tests.some((test) => test.id === id && test.name !== undefined))
    .map((id) => `${page}: "${id}" has no test.`),
  ...ids.filter((id, at) => ids.indexOf(id) !== at).map((id) => `${page}: "${id}" is there twice.`),
  ...tests
    .filter(({ id }) => !ids.includes(id))
    .map(({ path, id }) => `${path}: ${page} has no promise "${id}".`),
  ...tests
    .filter(({ name }) => name === undefined)
    .map(({ path, id }) => `${path}: "// Promise: ${id}" does not stand above a test.`),
];
if (!process.argv.includes('--check')) writeFileSync(page, text);
else if (text !== written) problems.push(`${page} is out of date. Run: npm run promises`);
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;

/** The page with the tests of each promise below its entry, and the ids of the promises in order. */
function withTests(markdown) {
  const lines = markdown.split('\n').filter((line) => !line.startsWith('  - '));
  const ids = [];
  const text = lines.flatMap((line, at) => {
    const id = /^- `([^`]+)`: /.exec(line)?.[1];
    if (id !== undefined) ids.push(id);
    // A sentence may go on in indented lines.
    if (ids.length === 0 || !/^(- `| {2})/.test(line) || lines[at + 1]?.startsWith('  ')) return [line];
    const own = tests.filter((test) => test.id === ids.at(-1) && test.name !== undefined);
    return [line, ...own.map(({ path, name }) => `  - \`${path}\`: \`${name}\``)];
  });
  return { text: text.join('\n'), ids };
}

/**
 * The comments about promises in a test file, each with the name of the test below it. The name starts with the names of
 * the groups around the test, as Jest prints them. `%s`, `$name` and `${name}` stay as they are. No name: no test below.
 */
function testsIn(path, text) {
  const found = [...text.matchAll(/^ *\/\/ Promise: (.*)$/gm)].map(({ 0: { length }, 1: id, index }) => ({
    path,
    id,
    end: index + length,
    name: undefined,
  }));
  if (found.length === 0) return [];
  const visit = (node, groups) => {
    const { kind, name } = ts.isExpressionStatement(node) ? callOf(node.expression) : {};
    if (kind === 'test') {
      const comments = ts.getLeadingCommentRanges(text, node.pos) ?? [];
      for (const each of found)
        if (comments.some(({ end }) => end === each.end)) each.name = [...groups, name].join(' ');
    }
    const inside = kind === 'group' ? [...groups, name] : groups;
    ts.forEachChild(node, (child) => visit(child, inside));
  };
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true), []);
  return found;
}

/** The kind and the name of a call such as `it('…', …)` or `describe.each(table)('…', …)`; empty for any other call. */
function callOf(node) {
  if (!ts.isCallExpression(node)) return {};
  const callee = ts.isCallExpression(node.expression) ? node.expression.expression : node.expression;
  const [name] = node.arguments;
  const kind = kinds.get(callee.getText());
  if (kind === undefined || name === undefined) return {};
  if (ts.isStringLiteralLike(name)) return { kind, name: name.text };
  return ts.isTemplateExpression(name) ? { kind, name: name.getText().slice(1, -1) } : {};
}
