/**
 * Runs in each test file, before any other module is loaded: every interface that the test creates is watched for
 * planted secrets, whoever creates it.
 */
import { jest } from '@jest/globals';
import type * as CreateAdmin from '../../src/runtime/create-admin.ts';
import type * as Leak from './leak.ts';

jest.mock('../../src/runtime/create-admin.ts', () => {
  const actual = jest.requireActual<typeof CreateAdmin>('../../src/runtime/create-admin.ts');
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
