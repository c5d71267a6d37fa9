/**
 * The libraries of `package.json` in this folder. Each function gives the library, or `undefined` if it is not installed.
 */
const load = async (promise) => {
  try {
    return await promise;
  } catch (error) {
    if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
    return undefined;
  }
};

export const sortedBtree = async () => load(import('sorted-btree'));
export const immutable = async () => load(import('immutable'));
export const toolkit = async () => load(import('@reduxjs/toolkit'));
export const xstate = async () => load(import('xstate'));
export const findMyWay = async () => load(import('find-my-way'));
export const dateFnsTz = async () => load(import('@date-fns/tz'));
export const honoNodeServer = async () => load(import('@hono/node-server'));
