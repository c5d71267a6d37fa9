/**
 * Runs in each test file: after each test, nothing that was shown contains a planted secret, and no answer breaks the
 * OpenAPI document.
 */
import { afterEach, expect } from '@jest/globals';

import { lookAt, takeLeaks } from './leak.ts';
import { takeBreaches } from './openapi.ts';

const { console: shown } = globalThis;
for (const method of ['log', 'info', 'warn', 'error', 'debug'] as const) {
  const show = shown[method].bind(shown);
  shown[method] = (...given: unknown[]) => {
    for (const each of given) lookAt('the console', each);
    show(...given);
  };
}

afterEach(() => {
  expect(takeLeaks()).toEqual([]);
  expect(takeBreaches()).toEqual([]);
});
