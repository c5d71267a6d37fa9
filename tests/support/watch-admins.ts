/**
 * Runs in each test file, before any other module is loaded: every interface that the test creates is watched for
 * planted secrets, whoever creates it.
 */
import { jest } from '@jest/globals';
import type * as Library from 'gateway-admin-core';

import type * as Leak from './leak.ts';

jest.mock('gateway-admin-core', () => {
  const actual = jest.requireActual<typeof Library>('gateway-admin-core');
  // Loaded at the first interface, because the module itself uses the library.
  const leaks = (): typeof Leak => jest.requireActual('./leak.ts');
  return {
    ...actual,
    createAdmin: (...given: Parameters<typeof actual.createAdmin>) =>
      leaks().watch(actual.createAdmin(...given)),
    openAdmin: async (...given: Parameters<typeof actual.openAdmin>) =>
      leaks().watch(await actual.openAdmin(...given)),
  };
});
