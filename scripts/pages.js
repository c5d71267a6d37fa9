/**
 * Writes every page, and every source of the OpenAPI document, that follows from tables or from a running interface.
 */
import { spawnSync } from 'node:child_process';

// The OpenAPI document and the pages read the sources that the first test writes.
const turns = [
  ['tests/openapi/source.test.ts'],
  ['tests/openapi/document.test.ts', 'tests/docs/page.test.ts'],
];

for (const tests of turns) {
  const { status } = spawnSync(process.execPath, ['node_modules/jest/bin/jest.js', ...tests], {
    stdio: 'inherit',
    env: { ...process.env, WRITE_PAGES: '1' },
  });
  process.exitCode ||= status ?? 1;
}
