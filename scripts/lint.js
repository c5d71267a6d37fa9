/**
 * Checks the types of the whole project, then lints it. Both use one program of the compiler: the rules that need types
 * find most of them computed already. Results of the rules are cached by content; types are checked anew each time.
 */
import { ESLint } from 'eslint';
import ts from 'typescript';

const project = 'tsconfig.json';
const program = programOf(project);

const format = { getCanonicalFileName: String, getCurrentDirectory: process.cwd, getNewLine: () => '\n' };
const refusals = ts.getPreEmitDiagnostics(program);
if (refusals.length > 0) console.log(ts.formatDiagnostics(refusals, format));

const eslint = new ESLint({
  cache: true,
  cacheStrategy: 'content',
  cacheLocation: 'node_modules/.cache/eslint/',
  overrideConfig: {
    files: ['**/*.ts'],
    // The cache keeps a hash of the configuration, for which the program counts as its name.
    languageOptions: {
      parserOptions: { projectService: false, programs: [Object.assign(program, { toJSON: () => project })] },
    },
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
