/**
 * The names of tests, read from their sources: those of the groups around a test and its own, as Jest puts them together.
 */
import ts from 'typescript';

/**
 * Finds the names of the tests in a file. What a table fills in stands there as it is written: `%s`, `$name`, `${name}`.
 *
 * @param text - the source of a test file; tests that are skipped are left out
 */
export function testNamesIn(text: string): readonly string[] {
  const source = ts.createSourceFile('a.test.ts', text, ts.ScriptTarget.ES2023, true);
  const names: string[] = [];
  const visit = (node: ts.Node, groups: readonly string[]): void => {
    const call = ts.isCallExpression(node) ? callOf(node) : undefined;
    if (call?.kind === 'skipped') return;
    if (call?.kind === 'test') names.push([...groups, call.name].join(' '));
    const inside = call?.kind === 'group' ? [...groups, call.name] : groups;
    ts.forEachChild(node, (child) => {
      visit(child, inside);
    });
  };
  visit(source, []);
  return names;
}

interface Call {
  readonly kind: 'group' | 'test' | 'skipped';
  readonly name: string;
}

const kinds: ReadonlyMap<string, Call['kind']> = new Map([
  ['describe', 'group'],
  ['describe.each', 'group'],
  ['describe.skip', 'skipped'],
  ['describe.skip.each', 'skipped'],
  ['it', 'test'],
  ['it.each', 'test'],
]);

/** A call that makes a test or a group of tests: `it('…', …)`, or `it.each(table)('…', …)`. */
function callOf({ expression, arguments: [name] }: ts.CallExpression): Call | undefined {
  const callee = ts.isCallExpression(expression) ? expression.expression : expression;
  const kind = kinds.get(callee.getText());
  const isTable = callee === expression && callee.getText().endsWith('.each');
  if (kind === undefined || isTable || name === undefined) return undefined;
  if (ts.isStringLiteralLike(name)) return { kind, name: name.text };
  return ts.isTemplateExpression(name) ? { kind, name: name.getText().slice(1, -1) } : undefined;
}
