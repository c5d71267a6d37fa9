/**
 * Writes the OpenAPI document: first the descriptions and examples in src/openapi/, from the sources and from a running
 * interface, and then etc/openapi.json with them.
 */
import { spawnSync } from 'node:child_process';

for (const test of ['source', 'document']) {
  const { status } = spawnSync(
    process.execPath,
    ['node_modules/jest/bin/jest.js', `tests/openapi/${test}.test.ts`],
    { stdio: 'inherit', env: { ...process.env, WRITE_PAGES: '1' } },
  );
  process.exitCode ||= status ?? 1;
}
