/** tests/scenarios/command/session-report.txt says what clients see after reports about sessions. */
import { describe, expect, it } from '@jest/globals';
import { createAdmin, type HostReport, type Telemetry } from 'gateway-admin-core';

import { ask } from '../../support/ask.ts';
import { sampleSnapshot } from '../../support/document.ts';
import { sampleGateway } from '../../support/running-admin.ts';

const statistics = { reads: 9, writes: 8, buffered_writes: 7, high_water_events: 6, low_water_events: 5 };

describe('idle times and counters that are reported', () => {
  const report: readonly HostReport[] = [
    { type: 'session.updated', id: 9, idle: 77 },
    { type: 'connection.updated', session: 9, id: 0, statistics },
  ];

  it.each<[string, Telemetry | undefined]>([
    ['there is no telemetry', undefined],
    ['telemetry does not know them', { idle: () => undefined, statistics: () => undefined }],
    ['telemetry has only other figures', { threads: () => undefined }],
  ])('are shown when %s', async (_when, telemetry) => {
    expect(await figures(telemetry)).toEqual({ idle: 77, reads: 9 });
  });

  it('give way to telemetry', async () => {
    const telemetry = { idle: () => 1, statistics: () => ({ ...statistics, reads: 2 }) };
    expect(await figures(telemetry)).toEqual({ idle: 1, reads: 2 });
  });

  async function figures(telemetry: Telemetry | undefined): Promise<object> {
    const { apply, inspect } = sampleGateway();
    const gateway = { apply, inspect, ...(telemetry === undefined ? {} : { telemetry }) };
    const admin = createAdmin({ snapshot: sampleSnapshot(), gateway });
    admin.report(report);
    const session = (await ask(admin, 'GET /sessions/9')).body as { idle: number };
    const [, second] = (await ask(admin, 'GET /sessions/9/connections')).body as {
      statistics: typeof statistics;
    }[];
    return { idle: session.idle, reads: second?.statistics.reads };
  }
});
