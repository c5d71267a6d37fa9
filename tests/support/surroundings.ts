/**
 * What a route sees besides the snapshot, without an interface that runs.
 */
import { createTimeFormat } from 'gateway-admin-core';

import type { CommandInFlight } from '../../src/resources/command.ts';
import type { Surroundings } from '../../src/resources/shared/rendering.ts';
import { sampleZone } from './document.ts';

/** The surroundings of an interface with these commands. A command is abandoned in name only. */
function surroundingsWith(...commands: readonly CommandInFlight[]): Surroundings {
  return {
    times: createTimeFormat(sampleZone),
    commands: { list: () => commands, abandon: () => Promise.resolve({ outcome: 'accepted' }) },
  };
}

function commandOn(resource: string): CommandInFlight {
  const since = Date.parse('2016-09-10T00:00:00Z');
  return {
    id: 'sample-1',
    type: 'service.stopped',
    resource,
    resources: [resource],
    since,
    outcome: 'unknown',
  };
}

/** The surroundings of an interface in which no command is in flight. */
export const surroundings = surroundingsWith();

/** The surroundings of an interface with two commands in flight; the caller of the second is not known. */
export const busySurroundings = surroundingsWith(
  { ...commandOn('/services/My-Service'), actor: 'ada' },
  { ...commandOn('/services/Bare-Service'), id: 'sample-2' },
);
