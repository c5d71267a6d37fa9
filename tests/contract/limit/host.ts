/**
 * The limits for programs that use the library: reports, problems of their own, errors.
 */
import { jest } from '@jest/globals';
import { hostProblem } from 'gateway-admin-core';

import { longestHostCode } from '../../../src/problem.ts';
import { teardownBatch } from '../../../src/resources/shared/teardown.ts';
import { createErrorSink, mostKinds } from '../../../src/runtime/host/error-sink.ts';
import { accepted, calls, keeps, type Limit, type Trial } from '../../support/limit.ts';
import { openedSession } from '../../support/opened-session.ts';
import { runAdmin } from '../../support/running-admin.ts';

const refusedReport = 'the report is refused, and `onError` gets an error';

/** Reports a session with so many connections. */
const opens: Trial = (size) => {
  const { admin, errors } = runAdmin();
  const connections = Array.from({ length: size }, (_, id) => ({
    id,
    server: 'db-serv-1',
    role: 'r',
    state: 's',
  }));
  admin.report({ ...openedSession(77), connections });
  return Promise.resolve(errors.length === 0 ? accepted : refusedReport);
};

/** Counts the errors that the console gets of so many kinds. */
function shows(size: number): number {
  const shown = jest.spyOn(console, 'error').mockImplementation(() => undefined);
  const tell = createErrorSink();
  for (let kind = 0; kind < size; kind += 1) tell(new Error(String(kind)));
  const { length } = shown.mock.calls;
  shown.mockRestore();
  return length;
}

export const hostLimits: readonly Limit[] = [
  {
    value: teardownBatch,
    bounds: '`connections` of the report `session.opened`',
    beyond: refusedReport,
    trial: opens,
  },
  {
    value: longestHostCode,
    unit: 'characters',
    bounds: '`code` of a `hostProblem`',
    beyond: 'TypeError',
    trial: calls((size) =>
      hostProblem(`host-${'x'.repeat(size - 'host-'.length)}`, { status: 409, title: 'No', detail: 'No.' }),
    ),
  },
  {
    ...keeps(mostKinds, 'no output', shows),
    bounds: 'kinds of errors that the console gets without `onError`',
  },
];
