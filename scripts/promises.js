/**
 * Prints which tests check each promise of tests/promises.md.
 *
 *     node scripts/promises.js            prints every promise with its tests
 *     node scripts/promises.js dry-run    prints the named promises
 *     node scripts/promises.js --check    prints faults only
 *
 * The page has one entry for each promise: "- `id`: a sentence". A test that checks the promise has the comment
 * "// Promise: id" directly above its `it`, and a scenario or a transcript has "# Promise: id" directly below its title.
 * Each call fails if a promise has no test or is there twice, if a comment names no promise, or if a comment stands at
 * no test.
 */
import { readFileSync, readdirSync } from 'node:fs';

import ts from 'typescript';

const page = 'tests/promises.md';
const kinds = new Map([
  ['describe', 'group'],
  ['describe.each', 'group'],
  ['it', 'test'],
  ['itInBrowser', 'test'],
  ['it.each', 'test'],
]);

const tests = readdirSync('tests', { recursive: true })
  .map((path) => `tests/${path.replaceAll('\\', '/')}`)
  .sort()
  .flatMap((path) => {
    if (path.endsWith('.ts')) return testsIn(path, readFileSync(path, 'utf8'));
    const isScenario = /^tests\/(?:scenarios|cli\/transcripts)\/.*\.txt$/.test(path);
    return isScenario ? scenariosIn(path, readFileSync(path, 'utf8')) : [];
  });
const promises = [...readFileSync(page, 'utf8').matchAll(/^- `([^`]+)`: (.*(?:\n {2}.*)*)/gm)].map(
  ([, id, text]) => ({ id, sentence: text.replace(/\s+/g, ' ') }),
);
const ids = promises.map(({ id }) => id);
const [check, wanted] = [process.argv.includes('--check'), process.argv.slice(2)];

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
  ...wanted
    .filter((id) => !ids.includes(id) && id !== '--check')
    .map((id) => `${page} has no promise "${id}".`),
];
if (!check) for (const each of promises) if (wanted.length === 0 || wanted.includes(each.id)) print(each);
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;

/** Prints a promise, with the file and the name of each of its tests. */
function print({ id, sentence }) {
  const own = tests.filter((test) => test.id === id && test.name !== undefined);
  console.log([`${id}: ${sentence}`, ...own.map(({ path, name }) => `  ${path}: ${name}`)].join('\n'));
}

/**
 * The comments about promises in a test file, each with the name of the test below it. The name starts with the names
 * of the groups around the test, as Jest prints them. `%s`, `$name` and `${name}` stay as they are. No name: no test
 * below.
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

/** The comments about promises in a file of scenarios, each with the title above it. No title: no scenario above. */
function scenariosIn(path, text) {
  const lines = text.split('\n');
  return lines.flatMap((line, at) => {
    const [, id] = /^# Promise: (.*)$/.exec(line) ?? [];
    if (id === undefined) return [];
    const above = lines.slice(0, at).findLast((each) => !each.startsWith('# Promise: '));
    return [{ path, id, name: /^== (.*)$/.exec(above ?? '')?.[1] }];
  });
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
