/**
 * Checks the types of the whole project and of the console, then lints both. The rules that need types use the programs
 * of the type check, and find most types computed already. No result is kept: what a rule says of a file can depend on
 * the types of any other.
 */
import { ESLint } from 'eslint';
import ts from 'typescript';

const projects = ['tsconfig.json', 'console/tsconfig.json', 'examples/playground/tsconfig.json'];
const programs = projects.map(programOf);

const format = { getCanonicalFileName: String, getCurrentDirectory: process.cwd, getNewLine: () => '\n' };
const refusals = programs.flatMap((program) => [...ts.getPreEmitDiagnostics(program)]);
if (refusals.length > 0) console.log(ts.formatDiagnostics(refusals, format));

const eslint = new ESLint({
  overrideConfig: {
    files: ['**/*.{ts,tsx}'],
    languageOptions: { parserOptions: { projectService: false, programs } },
  },
});
const results = await eslint.lintFiles(['.']);
const { format: write } = await eslint.loadFormatter('stylish');
console.log(await write(results));

const isClean = results.every(({ errorCount, warningCount }) => errorCount + warningCount === 0);
process.exitCode = refusals.length === 0 && isClean ? 0 : 1;

/** The program of a configuration file, with what typescript-eslint needs: each node knows its parent. */
function programOf(path) {
  const fail = ({ messageText }) => {
    throw new Error(ts.flattenDiagnosticMessageText(messageText, '\n'));
  };
  const config = ts.getParsedCommandLineOfConfigFile(path, undefined, {
    ...ts.sys,
    onUnRecoverableConfigFileDiagnostic: fail,
  });
  return ts.createProgram({
    rootNames: config.fileNames,
    options: config.options,
    configFileParsingDiagnostics: ts.getConfigFileParsingDiagnostics(config),
    host: ts.createCompilerHost(config.options, true),
  });
}
