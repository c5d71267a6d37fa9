/**
 * Finds the declarations that a program can reach from the entries of the package. The modules declare more: what they
 * share with each other, and what they take from zod, which a program that imports the package would have to read.
 */
import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

import ts from 'typescript';

/**
 * @param {string} folder where the compiler has written the declarations
 * @param {readonly string[]} entries the files of the entries, from the folder
 * @returns {ReadonlyMap<string, string>} the texts of the files that are left, by their paths from the folder
 */
export function reachableDeclarations(folder, entries) {
  const modules = new Map();
  const moduleAt = (path) => {
    if (!modules.has(path)) modules.set(path, readModule(path));
    return modules.get(path);
  };
  for (const entry of entries) {
    reachAll(moduleAt(join(folder, entry)));
  }
  const left = [...modules.values()].filter(({ kept }) => kept.size > 0);
  return new Map(left.map((module) => [relative(folder, module.path), textOf(module)]));

  function reachAll(module) {
    for (const name of [...module.declared.keys(), ...module.passedOn.keys()]) reach(module, name);
  }

  /** Keeps what a module means by a name, and all that this names in turn. */
  function reach(module, name) {
    const specifiers = [module.imported.get(name), module.passedOn.get(name)];
    for (const part of [...specifiers, ...(module.declared.get(name) ?? [])]) {
      if (part === undefined || module.kept.has(part)) continue;
      module.kept.add(part);
      for (const { from, name: used } of usesIn(part)) {
        if (from === undefined) reach(module, used);
        else if (from.startsWith('.') && used === undefined) reachAll(moduleAt(besides(module.path, from)));
        else if (from.startsWith('.')) reach(moduleAt(besides(module.path, from)), used);
      }
    }
  }
}

/** What a file of declarations declares, imports and exports of others, by the names that it uses for them. */
function readModule(path) {
  const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true);
  const module = {
    path,
    source,
    declared: new Map(),
    imported: new Map(),
    passedOn: new Map(),
    kept: new Set(),
  };
  for (const statement of source.statements) {
    const list = specifiersOf(statement);
    const names = ts.isImportDeclaration(statement) ? module.imported : module.passedOn;
    for (const specifier of list ?? []) names.set(specifier.name.text, specifier);
    for (const name of list === undefined ? declaredBy(statement) : [])
      module.declared.set(name, [...(module.declared.get(name) ?? []), statement]);
  }
  return module;
}

/** What an import or an export lists. `import * as shape` lists one name; other statements list nothing. */
function specifiersOf(statement) {
  if (ts.isExportDeclaration(statement)) return statement.exportClause.elements;
  if (!ts.isImportDeclaration(statement)) return undefined;
  const { namedBindings } = statement.importClause;
  return ts.isNamespaceImport(namedBindings) ? [namedBindings] : namedBindings.elements;
}

function declaredBy(statement) {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.map(({ name }) => name.text);
  return [statement.name.text];
}

/**
 * What a statement, or a name in a list, takes from around it: names, each of another module where `from` says so. A
 * module without a name is taken whole.
 */
function usesIn(node) {
  if (ts.isNamespaceImport(node)) return [{ from: node.parent.parent.moduleSpecifier.text }];
  if (ts.isImportSpecifier(node) || ts.isExportSpecifier(node)) {
    const from = ts.findAncestor(node, ({ moduleSpecifier }) => moduleSpecifier)?.moduleSpecifier.text;
    return [{ from, name: (node.propertyName ?? node.name).text }];
  }
  const own = [];
  if (ts.isIdentifier(node) && !isOwnName(node)) own.push({ name: node.text });
  if (ts.isImportTypeNode(node))
    own.push({ from: node.argument.literal.text, name: node.qualifier?.getText() });
  ts.forEachChild(node, (child) => void own.push(...usesIn(child)));
  return own;
}

/** Whether an identifier names a member, a parameter or the like, and takes nothing from around it. */
function isOwnName(node) {
  return node.parent.right === node || node.parent.name === node;
}

/** The text of a module with what is kept. */
function textOf({ source, kept }) {
  const parts = source.statements.flatMap((statement) => {
    const list = specifiersOf(statement);
    if (list === undefined) return kept.has(statement) ? [statement.getFullText().trim()] : [];
    const left = list.filter((each) => kept.has(each));
    // `export {}` says that what is not called exported is none. Without it, all would be.
    return left.length < list.length && left.length === 0 ? [] : [listText(statement, left)];
  });
  return `${parts.join('\n')}\n`;
}

function listText(statement, specifiers) {
  const names = specifiers.map((each) => each.getText()).join(', ');
  const list = specifiers.some(ts.isNamespaceImport) ? names : `{ ${names} }`;
  const word = ts.isImportDeclaration(statement) ? 'import' : 'export';
  const isType = statement.isTypeOnly || statement.importClause?.isTypeOnly;
  const from = statement.moduleSpecifier === undefined ? '' : ` from ${statement.moduleSpecifier.getText()}`;
  return `${word} ${isType ? 'type ' : ''}${list}${from};`;
}

/** The file of declarations of a module that another one imports. */
function besides(path, specifier) {
  return join(dirname(path), specifier.replace(/\.[jt]s$/, '.d.ts'));
}
