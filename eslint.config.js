import { readFileSync } from 'node:fs';

import js from '@eslint/js';
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

/** The files that may use Node are those of the last part of the build. */
const nodeOnly = JSON.parse(
  readFileSync(new URL('src/tsconfig.node.json', import.meta.url), 'utf8'),
).include.map((path) => (path.endsWith('.ts') ? `src/${path}` : `src/${path}/**`));

const pure = [
  'src/problem.ts',
  'src/json/**',
  'src/core/**',
  'src/http/**',
  'src/snapshot/**',
  'src/resources/**',
];
const typescript = ['**/*.{ts,tsx}'];

const noRfc6902 = {
  selector:
    ':matches(ImportDeclaration, ExportNamedDeclaration, ExportAllDeclaration)[source.value=/^rfc6902/]',
  message: 'json/diff.ts is the one home of rfc6902. Call what it exports.',
};
const noClock = {
  selector: ':matches(NewExpression, CallExpression)[callee.name="Date"][arguments.length=0]',
  message: 'The time arrives in the context (context.now).',
};
const noClockProperties = [
  { object: 'Date', property: 'now', message: 'The time arrives in the context (context.now).' },
  { object: 'Math', property: 'random', message: 'What is decided by chance is decided outside the core.' },
];

export default defineConfig(
  globalIgnores(['**/dist/', 'coverage/', 'temp/', 'etc/']),
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  {
    files: ['**/*.js'],
    extends: [js.configs.recommended],
    languageOptions: {
      globals: { console: 'readonly', performance: 'readonly', process: 'readonly', URL: 'readonly' },
    },
  },
  {
    files: typescript,
    extends: [
      js.configs.recommended,
      tseslint.configs.strictTypeChecked,
      tseslint.configs.stylisticTypeChecked,
    ],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      eqeqeq: 'error',
      'no-console': 'error',
      'no-param-reassign': 'error',
      'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }],
      '@typescript-eslint/no-import-type-side-effects': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      // `this: void` says that a function stored in a table may be taken out of it.
      '@typescript-eslint/no-invalid-void-type': ['error', { allowAsThisParameter: true }],
      // `const { left, ...rest } = whole` is how a member is left out.
      '@typescript-eslint/no-unused-vars': ['error', { ignoreRestSiblings: true }],
      // `return refuse(…)` and `() => refuse(…)` are the short forms of doing it and being done.
      '@typescript-eslint/no-confusing-void-expression': [
        'error',
        { ignoreArrowShorthand: true, ignoreVoidReturningFunctions: true },
      ],
      // `NonNullable<unknown>` and a table without rows are meant; a written `{}` stays forbidden.
      '@typescript-eslint/no-generated-empty-object-type': 'off',
      // A mapped type says what its keys mean.
      '@typescript-eslint/consistent-indexed-object-style': 'off',
      // It asks for `!`, which is banned.
      '@typescript-eslint/non-nullable-type-assertion-style': 'off',
    },
  },
  {
    files: ['src/**/*.ts'],
    rules: {
      // The compiler option `erasableSyntaxOnly` forbids enums. Looking for their use takes a tenth of the time.
      '@typescript-eslint/no-unsafe-enum-assignment': 'off',
      '@typescript-eslint/no-unsafe-enum-comparison': 'off',
    },
  },
  {
    files: ['src/**/*.ts'],
    ignores: nodeOnly,
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            { regex: '^node:', message: 'Only the files that src/tsconfig.node.json includes use Node.' },
          ],
        },
      ],
    },
  },
  {
    files: ['src/**/*.ts'],
    ignores: [...pure, 'src/json/diff.ts'],
    rules: { 'no-restricted-syntax': ['error', noRfc6902] },
  },
  {
    files: pure,
    rules: {
      'no-restricted-properties': ['error', ...noClockProperties],
      'no-restricted-syntax': ['error', noClock, noRfc6902],
    },
  },
  { files: ['src/json/diff.ts'], rules: { 'no-restricted-syntax': ['error', noClock] } },
  {
    // The compiler checks the types of tests. Of the rules that need types, tests keep those without which a test could be
    // unable to fail. All of them on so many lines would take a third of the time of the lint.
    files: ['tests/**/*.ts'],
    extends: [tseslint.configs.disableTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/require-await': 'error',

      // `describe` takes all tests of a subject as one function.
      'max-lines-per-function': 'off',
      'no-restricted-properties': [
        'error',
        ...['describe', 'it', 'test'].flatMap((object) =>
          ['only', 'skip', 'todo'].map((property) => ({
            object,
            property,
            message: 'All tests run, always.',
          })),
        ),
        { property: 'toMatchSnapshot', message: 'State what is expected.' },
        { property: 'toMatchInlineSnapshot', message: 'State what is expected.' },
      ],
    },
  },
  // Programs talk to whoever runs them.
  { files: ['examples/**/*.ts', 'bench/**/*.ts'], rules: { 'no-console': 'off' } },
  // The interface checks the document that a tool sends.
  { files: ['examples/tools/*.ts'], rules: { '@typescript-eslint/no-unsafe-assignment': 'off' } },
);
