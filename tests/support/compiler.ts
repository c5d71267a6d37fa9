/**
 * The TypeScript compiler with the project's options, for the tests that compile texts.
 */
import { dirname, join } from 'node:path';

import ts from 'typescript';

import { read, root } from './project.ts';

/** The options in a configuration file, by its path from the root. */
export function compilerOptions(path: string): ts.CompilerOptions {
  return configuration(path).options;
}

/** The paths, from the root, of the files that a configuration file names. */
export function configuredFiles(path: string): readonly string[] {
  return configuration(path).fileNames.map((file) => file.slice(root.length));
}

/**
 * The options of the project for a program of a user: the package's name means what the build declares, which the
 * compiler reads faster than the sources. What a program declares need not be used.
 */
export function userOptions(): ts.CompilerOptions {
  const { paths = {}, ...options } = compilerOptions('tsconfig.json');
  const built = Object.entries(paths).map(([name, sources]) => [name, sources.map(declarationOf)]);
  return { ...options, paths: Object.fromEntries(built), noUnusedLocals: false, noUnusedParameters: false };
}

function declarationOf(source: string): string {
  return source.replace(/^\.\/src\/(.*)\.ts$/, './dist/types/$1.d.ts');
}

function configuration(path: string): ts.ParsedCommandLine {
  const { config } = ts.readConfigFile(path, read) as { config: unknown };
  return ts.parseJsonConfigFileContent(
    config,
    ts.sys,
    join(root, dirname(path)),
    undefined,
    join(root, path),
  );
}

/**
 * Compiles texts as if they were files.
 *
 * @param texts - the texts by their paths from the root; what they import is read from the disk
 * @returns for each text what the compiler says against it, in order
 */
export function compile(
  texts: ReadonlyMap<string, string>,
  options: ts.CompilerOptions,
): ReadonlyMap<string, readonly Diagnostic[]> {
  const files = new Map([...texts].map(([path, text]) => [root + path, text]));
  const program = ts.createProgram([...files.keys()], options, hostOf(files, options));
  return new Map(
    [...texts.keys()].map((path) => [
      path,
      ts.getPreEmitDiagnostics(program, program.getSourceFile(root + path)).map(diagnosticOf),
    ]),
  );
}

/** Something the compiler says. */
export interface Diagnostic {
  /** Line of the text, counted from 1. */
  readonly line: number;
  readonly message: string;
}

function diagnosticOf({ file, start, messageText }: ts.Diagnostic): Diagnostic {
  const line = file === undefined ? 1 : file.getLineAndCharacterOfPosition(start ?? 0).line + 1;
  return { line, message: ts.flattenDiagnosticMessageText(messageText, '\n') };
}

function hostOf(files: ReadonlyMap<string, string>, options: ts.CompilerOptions): ts.CompilerHost {
  const disk = ts.createCompilerHost(options);
  return {
    ...disk,
    fileExists: (name) => files.has(name) || disk.fileExists(name),
    readFile: (name) => files.get(name) ?? disk.readFile(name),
    getSourceFile: (name, target, ...rest) => {
      const text = files.get(name);
      return text === undefined
        ? disk.getSourceFile(name, target, ...rest)
        : ts.createSourceFile(name, text, target, true);
    },
  };
}
