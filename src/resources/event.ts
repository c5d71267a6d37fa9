/**
 * Events over HTTP: what happens in the gateway, as a stream. The Gateway Administration REST Interface has no such
 * chapter: the endpoint is an addition. Each kind declares its own events.
 */
import { endpoint } from '../http/endpoint.ts';
import { plainRoute } from '../http/route.ts';
import type { State } from '../snapshot/state.ts';
import type { Kind } from './shared/kind.ts';

/**
 * The kind "event".
 *
 * @see docs/spec-choices.md 41.
 *
 * @internal
 */
export const eventKind: Kind<State, never, never, never> = {
  fields: {},
  events: {},
  effects: {},
  reports: {},
  routes: [
    {
      ...plainRoute,
      ...endpoint('events.stream'),
      isAddition: true,
      role: 'reader',
      query: ['after', 'types'],
      summary: 'Follows the events.',
    },
  ],
};
