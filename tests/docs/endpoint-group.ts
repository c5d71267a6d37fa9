/**
 * Sets of endpoints that have a name for readers of the pages.
 */
import { hasBody, isCommand, isPatch, isResourceCommand } from '../openapi/problem-code.ts';
import type { BoundRoute } from './tables.ts';

/** Each set by its name. The first one has every endpoint. */
export const endpointGroups: readonly (readonly [name: string, has: (route: BoundRoute) => boolean])[] = [
  ['every endpoint', () => true],
  ['every endpoint with a name or an id in its path', ({ path }) => path.includes(':')],
  ['every endpoint with the parameter `range`', ({ query }) => query.includes('range')],
  ['every endpoint with the parameter `fields`', ({ query }) => query.includes('fields')],
  ['every endpoint that changes something', isCommand],
  ['every endpoint that changes a resource', isResourceCommand],
  ['every endpoint with a body', hasBody],
  ['every `PATCH`', isPatch],
];
