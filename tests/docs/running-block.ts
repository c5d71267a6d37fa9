/**
 * Running blocks: executes a TypeScript block and checks what it claims.
 *
 * A claim is an expression statement with a comment behind it: `expression; // => literal`.
 */
import { Console } from 'node:console';
import { Writable } from 'node:stream';

import { expect } from '@jest/globals';
import ts from 'typescript';

import { type Chain, placeOf, textOf } from './code-block.ts';

/** Info word of blocks that are type-checked and not executed. */
export const compileOnly = 'compile-only';

interface Claim {
  readonly statement: ts.ExpressionStatement;
  readonly line: number;
  readonly value: unknown;
}

type Program = (
  require: (id: string) => unknown,
  exports: object,
  claim: (index: number, actual: unknown) => void,
  console: Console,
) => Promise<void>;

const AsyncFunction = (async () => Promise.resolve()).constructor as new (...parts: string[]) => Program;

/**
 * Executes a chain up to its first block that is compile-only.
 *
 * @param load - gives a module for its specifier
 * @throws SyntaxError when a comment `// =>` is not a claim, or a bare expression claims nothing
 * @throws Error when a claim is wrong or never reached, or when the code throws
 */
export async function runChain(chain: Chain, load: (id: string) => unknown): Promise<void> {
  const end = chain.findIndex((block) => block.words.includes(compileOnly));
  const [first] = chain;
  const source = ts.createSourceFile(
    first.file,
    textOf(end < 0 ? chain : chain.slice(0, end)),
    ts.ScriptTarget.ES2023,
    true,
  );
  const claims = claimsOf(source);
  const reached = new Set<number>();
  const program = compile(source, claims);
  await program(
    load,
    {},
    (index, actual) => {
      reached.add(index);
      check(source, claims[index], actual);
    },
    silent,
  ).catch((error: unknown) => {
    throw error instanceof Error && error.message.startsWith(first.file)
      ? error
      : new Error(`${placeOf(first)}: the block throws ${String(error)}`, { cause: error });
  });
  const missed = claims.find((_claim, index) => !reached.has(index));
  if (missed !== undefined) throw new Error(`${placeIn(source, missed.line)}: the claim is never reached`);
}

/** What a page prints is for its readers. */
const silent = new Console(
  new Writable({
    write: (_chunk, _encoding, done) => {
      done();
    },
  }),
);

function check(source: ts.SourceFile, claim: Claim | undefined, actual: unknown): void {
  if (claim === undefined) throw new RangeError('There is no such claim');
  try {
    expect(actual).toEqual(claim.value);
  } catch (error) {
    const { message } = error as Error;
    throw new Error(`${placeIn(source, claim.line)}: ${claim.statement.expression.getText()}\n${message}`, {
      cause: error,
    });
  }
}

function claimsOf(source: ts.SourceFile): readonly Claim[] {
  const claims: Claim[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isExpressionStatement(node)) {
      const claim = claimOf(source, node);
      if (claim !== undefined) claims.push(claim);
      else if (!hasEffect(node.expression)) {
        const where = placeIn(source, lineOf(source, node.getStart()));
        throw new SyntaxError(`${where}: a bare expression says nothing without "// => value" behind it`);
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  assertAllClaimsFound(source, claims);
  return claims;
}

function claimOf(source: ts.SourceFile, statement: ts.ExpressionStatement): Claim | undefined {
  const comment = ts.getTrailingCommentRanges(source.text, statement.end)?.[0];
  if (comment === undefined) return undefined;
  const [, literal] = /^\/\/ => (.*)$/.exec(source.text.slice(comment.pos, comment.end)) ?? [];
  if (literal === undefined) return undefined;
  const line = lineOf(source, comment.pos);
  return { statement, line, value: valueOf(literal, placeIn(source, line)) };
}

function assertAllClaimsFound(source: ts.SourceFile, claims: readonly Claim[]): void {
  for (const [index, text] of source.text.split('\n').entries()) {
    if (/\/\/ ?=>/.test(text) && !claims.some((claim) => claim.line === index + 1)) {
      throw new SyntaxError(
        `${placeIn(source, index + 1)}: "// => value" must stand behind an expression statement`,
      );
    }
  }
}

function hasEffect(expression: ts.Expression): boolean {
  return (
    ts.isCallExpression(expression) ||
    ts.isAwaitExpression(expression) ||
    ts.isDeleteExpression(expression) ||
    ts.isPostfixUnaryExpression(expression) ||
    ts.isPrefixUnaryExpression(expression) ||
    (ts.isBinaryExpression(expression) && isAssignment(expression.operatorToken))
  );
}

function isAssignment({ kind }: ts.Node): boolean {
  return kind >= ts.SyntaxKind.FirstAssignment && kind <= ts.SyntaxKind.LastAssignment;
}

/** The source as a program that reports each claim. */
function compile(source: ts.SourceFile, claims: readonly Claim[]): Program {
  let text = source.text;
  for (const [index, { statement }] of [...claims.entries()].reverse()) {
    const { expression } = statement;
    const call = `$claim(${String(index)}, (${expression.getText()}));`;
    text = text.slice(0, expression.getStart()) + call + text.slice(statement.end);
  }
  const { outputText } = ts.transpileModule(text, {
    compilerOptions: {
      target: ts.ScriptTarget.ES2023,
      module: ts.ModuleKind.CommonJS,
      esModuleInterop: true,
    },
  });
  return new AsyncFunction('require', 'exports', '$claim', 'console', outputText);
}

function valueOf(literal: string, place: string): unknown {
  const fault = new SyntaxError(`${place}: "${literal}" is not a literal`);
  const source = ts.createSourceFile('literal.ts', `(${literal})`, ts.ScriptTarget.ES2023, true);
  const [statement, ...more] = source.statements;
  if (statement === undefined || more.length > 0 || !ts.isExpressionStatement(statement)) throw fault;
  return evaluate(statement.expression, fault);
}

/** The value of a literal: what JSON can say, with JavaScript's spelling, and `undefined`, `NaN` and `Infinity`. */
function evaluate(node: ts.Expression, fault: SyntaxError): unknown {
  if (ts.isParenthesizedExpression(node)) return evaluate(node.expression, fault);
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isNumericLiteral(node)) return Number(node.text);
  if (ts.isIdentifier(node) && words.has(node.text)) return words.get(node.text);
  if (node.kind === ts.SyntaxKind.TrueKeyword) return true;
  if (node.kind === ts.SyntaxKind.FalseKeyword) return false;
  if (node.kind === ts.SyntaxKind.NullKeyword) return null;
  if (ts.isArrayLiteralExpression(node)) return node.elements.map((element) => evaluate(element, fault));
  if (ts.isObjectLiteralExpression(node)) {
    return Object.fromEntries(node.properties.map((property) => memberOf(property, fault)));
  }
  if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.MinusToken) {
    return -Number(evaluate(node.operand, fault));
  }
  throw fault;
}

const words = new Map<string, unknown>([
  ['undefined', undefined],
  ['NaN', NaN],
  ['Infinity', Infinity],
]);

function memberOf(property: ts.ObjectLiteralElementLike, fault: SyntaxError): [string, unknown] {
  if (!ts.isPropertyAssignment(property) || ts.isComputedPropertyName(property.name)) throw fault;
  const { name } = property;
  if (!ts.isIdentifier(name) && !ts.isStringLiteralLike(name) && !ts.isNumericLiteral(name)) throw fault;
  return [name.text, evaluate(property.initializer, fault)];
}

function lineOf(source: ts.SourceFile, position: number): number {
  return source.getLineAndCharacterOfPosition(position).line + 1;
}

function placeIn(source: ts.SourceFile, line: number): string {
  return `${source.fileName}:${String(line)}`;
}
