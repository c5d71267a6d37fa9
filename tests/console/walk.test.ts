/**
 * A random walk over the page. `npm run test:console -- 10000 SEED` walks on for as long as it says.
 */
import { describe, expect, it } from '@jest/globals';

import { inBrowser } from '../support/browser.ts';
import { walk } from './walk.ts';

const acts = Number(process.env['WALK_ACTS'] ?? 25);
const seed = Number(process.env['WALK_SEED'] ?? 1);
const tell =
  process.env['WALK_ACTS'] === undefined ? undefined : (line: string) => process.stderr.write(`${line}\n`);

describe('a random walk', () => {
  it(
    'breaks no law',
    inBrowser(async (page) => {
      const walked = await walk(page, { seed, acts, ...(tell === undefined ? {} : { tell }) });
      tell?.(JSON.stringify(walked));
      expect(walked.acts).toBe(acts);
      // A short walk may press no such button.
      if (acts >= 500) expect(walked.presses).toBeGreaterThan(0);
    }),
    20_000 + 1000 * acts,
  );
});
