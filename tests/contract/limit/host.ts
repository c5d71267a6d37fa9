/**
 * The limits for programs that use the library: reports, and problems of their own.
 */
import { hostProblem } from 'gateway-admin-core';

import { accepted, calls, type Limit, type Trial } from '../../support/limit.ts';
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

export const hostLimits: readonly Limit[] = [
  {
    value: 1000,
    bounds: '`connections` of the report `session.opened`',
    beyond: refusedReport,
    trial: opens,
  },
  {
    value: 64,
    unit: 'characters',
    bounds: '`code` of a `hostProblem`',
    beyond: 'TypeError',
    trial: calls((size) =>
      hostProblem(`host-${'x'.repeat(size - 'host-'.length)}`, { status: 409, title: 'No', detail: 'No.' }),
    ),
  },
];
