/**
 * The descriptions of the OpenAPI document, read from the documentation comments of the sources: an interface that
 * documents a representation describes its fields.
 */
import { routes } from 'gateway-admin-core';
import ts from 'typescript';

import { fieldTables } from '../docs/tables.ts';
import { compilerOptions } from '../support/compiler.ts';
import { exists, filesBelow, read, root } from '../support/project.ts';

/** The texts of one component by the path to a field: `statistics.reads`, and `*` for the items of a list or map. */
export type Texts = Readonly<Record<string, string>>;

/** The types of the main entry that components are made from. */
const exported = ['Plan', 'May', 'Problem', 'Fault'];

/** The descriptions of all components, by name. */
export function componentDescriptions(): Readonly<Record<string, Texts>> {
  const { program, checker, files } = readSources();
  const reader = readerOf(checker);
  const tables = files.flatMap((path) => declaredIn(program.getSourceFile(root + path), checker));
  return Object.fromEntries([
    ...Object.keys(fieldTables).map((name) => {
      const found = tables.find((table) => table.name === name);
      if (found === undefined) throw new RangeError(`No kind declares the fields of ${name}`);
      return [pascalCase(name), reader(checker.getTypeFromTypeNode(found.type))] as const;
    }),
    ...exported.map((name) => [name, textsOf(name, program, checker)] as const),
  ]);
}

/** The descriptions of a gateway document, by the path to a field. */
export function documentDescriptions(): Texts {
  const { program, checker } = readSources();
  return textsOf('GatewayDocument', program, checker);
}

interface Sources {
  readonly program: ts.Program;
  readonly checker: ts.TypeChecker;
  /** The files of the kinds. */
  readonly files: readonly string[];
}

let sources: Sources | undefined;

/** The sources, which are read once. */
function readSources(): Sources {
  return (sources ??= createSources());
}

function createSources(): Sources {
  const files = filesBelow('src/resources', '.ts').filter((path) => path.split('/').length === 3);
  const program = sourcesOnly(['src/index.ts', ...files]);
  return { program, checker: program.getTypeChecker(), files };
}

/** The descriptions of a type of the main entry. */
function textsOf(name: string, program: ts.Program, checker: ts.TypeChecker): Texts {
  const entry = program.getSourceFile(`${root}src/index.ts`);
  const symbol = entry && checker.getSymbolAtLocation(entry);
  const ofEntry = symbol === undefined ? [] : checker.getExportsOfModule(symbol);
  const found = ofEntry.find((each) => each.name === name);
  if (found === undefined) throw new RangeError(`The main entry exports no ${name}`);
  return readerOf(checker)(checker.getDeclaredTypeOfSymbol(checker.getAliasedSymbol(found)));
}

/** The sources without what they import from packages, which takes ten times as long to read. */
function sourcesOnly(files: readonly string[]): ts.Program {
  const options = { ...compilerOptions('tsconfig.json'), lib: ['lib.es5.d.ts'], types: [] };
  const host = ts.createCompilerHost(options);
  const fileExists = (path: string): boolean => !path.includes('/node_modules/') && ts.sys.fileExists(path);
  return ts.createProgram(
    files.map((path) => root + path),
    options,
    { ...host, fileExists },
  );
}

/** The name of the component of a chapter: `ThreadInformation` for "thread information". */
export function pascalCase(words: string): string {
  return words.replace(/(?:^| )(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/**
 * The tables of fields that a kind declares, `fields: { service: fields }`, each with the type of its representation.
 */
function declaredIn(
  file: ts.SourceFile | undefined,
  checker: ts.TypeChecker,
): readonly { readonly name: string; readonly type: ts.TypeNode }[] {
  const found: { name: string; type: ts.TypeNode }[] = [];
  const visit = (node: ts.Node): void => {
    if (
      ts.isPropertyAssignment(node) &&
      node.name.getText() === 'fields' &&
      ts.isObjectLiteralExpression(node.initializer)
    )
      for (const each of node.initializer.properties) {
        if (!ts.isPropertyAssignment(each)) continue;
        const type = representationOf(each.initializer, checker);
        const name = ts.isStringLiteral(each.name) ? each.name.text : each.name.getText();
        if (type !== undefined) found.push({ name, type });
      }
    ts.forEachChild(node, visit);
  };
  if (file !== undefined) visit(file);
  return found;
}

/** The type of the representation in `defineFields<{ representation: … }>()(…)`, which a constant is. */
function representationOf(constant: ts.Expression, checker: ts.TypeChecker): ts.TypeNode | undefined {
  const named = checker.getSymbolAtLocation(constant);
  const symbol =
    named && (named.flags & ts.SymbolFlags.Alias) !== 0 ? checker.getAliasedSymbol(named) : named;
  const declaration = symbol?.valueDeclaration;
  if (declaration === undefined || !ts.isVariableDeclaration(declaration)) return undefined;
  const call = declaration.initializer;
  if (call === undefined || !ts.isCallExpression(call) || !ts.isCallExpression(call.expression))
    return undefined;
  const [interfaces] = call.expression.typeArguments ?? [];
  if (interfaces === undefined || !ts.isTypeLiteralNode(interfaces)) return undefined;
  const member = interfaces.members.find((each) => each.name?.getText() === 'representation');
  return member !== undefined && ts.isPropertySignature(member) ? member.type : undefined;
}

/** A text with the path to what it describes. */
type Text = readonly [path: string, text: string];

/** Gives the function that reads the texts of a type. */
function readerOf(checker: ts.TypeChecker): (type: ts.Type) => Texts {
  return (type) => {
    const symbol = type.aliasSymbol ?? type.symbol;
    return Object.fromEntries([...textAt('', symbol), ...inside(type, '', [])]);
  };

  function inside(type: ts.Type, path: string, outside: readonly ts.Type[]): readonly Text[] {
    const plain = checker.getNonNullableType(type);
    if (outside.includes(plain)) return [];
    const within = [...outside, plain];
    // The second form of a plan is no body of a response, and that of a row of `may` has no more members.
    if (plain.isUnion()) return plain.types.slice(0, 1).flatMap((each) => inside(each, path, within));
    const element = checker.isArrayType(plain)
      ? checker.getTypeArguments(plain as ts.TypeReference)[0]
      : checker.getIndexTypeOfType(plain, ts.IndexKind.String);
    if (element !== undefined) return inside(element, `${path}.*`, within);
    if ((plain.flags & ts.TypeFlags.Object) === 0) return [];
    return checker.getPropertiesOfType(plain).flatMap((member) => {
      const here = path === '' ? member.name : `${path}.${member.name}`;
      return [...textAt(here, member), ...inside(checker.getTypeOfSymbol(member), here, within)];
    });
  }

  /** The comment without its tags, in one line, and with names for links. */
  function textAt(path: string, symbol: ts.Symbol): readonly Text[] {
    const parts = symbol.getDocumentationComment(checker);
    const comment = ts.displayPartsToString(parts).replace(/\{@link ([^}]+?) ?\}/g, '`$1`');
    const text = comment.replace(/\s+/g, ' ').trim();
    return text === '' ? [] : [[path, text]];
  }
}

/** The descriptions of the tags: the first sentence of the file of each kind. */
export function tagDescriptions(): Readonly<Record<string, string>> {
  const tags = [...new Set(routes.map(({ id }) => id.split('.')[0] ?? ''))];
  return Object.fromEntries(
    tags.map((tag) => {
      const path = [`src/resources/${tag}.ts`, `src/resources/${tag.replace(/s$/, '')}.ts`].find(exists);
      const [, comment = ''] = /^\/\*\*\n((?: \* .*\n)+)/.exec(read(path ?? '')) ?? [];
      const text = comment.replace(/^ \* /gm, '').replace(/\s+/g, ' ').trim();
      const [, rest = ''] = /^[^:]+: ([^.]+\.)/.exec(text) ?? [];
      return [tag, rest.charAt(0).toUpperCase() + rest.slice(1)];
    }),
  );
}
