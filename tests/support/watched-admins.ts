/**
 * `createAdmin` and `openAdmin` as the tests get them: every interface is given to the watch of the test file, whoever
 * creates the interface.
 */
import { createAdmin as create, openAdmin as open } from '../../src/runtime/create-admin.ts';
import type { watch } from './leak.ts';

const watched: typeof watch = (admin) =>
  (globalThis as { readonly watchAdmin?: typeof watch }).watchAdmin?.(admin) ?? admin;

export const createAdmin: typeof create = (...given) => watched(create(...given));

export const openAdmin: typeof open = async (...given) => watched(await open(...given));
