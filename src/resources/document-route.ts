/**
 * The document as an endpoint: a gateway document that is taken over as one command. The Gateway Administration REST
 * Interface has no such chapter: the endpoint is an addition. The handler reads the document.
 */
import * as z from 'zod/mini';

import { endpoint } from '../http/endpoint.ts';
import { plainCommand } from '../http/route.ts';
import type { State } from '../snapshot/state.ts';
import type { Kind } from './shared/kind.ts';

/** A list of a document. Each entry is read by its kind. */
const list = z.exactOptional(z.array(z.looseObject({ name: z.string() })));

/**
 * The kind "document".
 *
 * @see docs/spec-choices.md 47.
 *
 * @internal
 */
export const documentKind: Kind<State, never, never, never> = {
  fields: {},
  events: {},
  effects: {},
  reports: {},
  routes: [
    {
      ...plainCommand,
      ...endpoint('document.adopt'),
      isAddition: true,
      takes: 'document',
      role: 'administrator',
      search: ['prune', 'only', 'allow_empty'],
      summary: 'Takes over the servers, services, monitors and filters of a gateway document.',
      mediaTypes: ['application/json'],
      bodyShape: z.looseObject({ servers: list, services: list, monitors: list, filters: list }),
    },
  ],
};
