/**
 * Runs in each test file: after each test, nothing that an interface or the console has shown contains a planted secret,
 * and no answer breaks the OpenAPI document.
 */
import { afterEach, expect } from '@jest/globals';

import { lookAt, takeLeaks, watch } from './leak.ts';
import { takeBreaches } from './openapi.ts';

Object.assign(globalThis, { watchAdmin: watch });

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
