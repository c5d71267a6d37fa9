/**
 * The gateway document that most tests start from: every part, every field, the values that the contract shows.
 */
import { createSnapshot, type GatewayDocument, type Snapshot } from 'gateway-admin-core';

import { planted } from './planted.ts';

/** Zone of the times that the contract shows. */
export const sampleZone = 'Europe/Helsinki';

/** Every part and every field. Names differ in case and have white space, as those of operators do. */
export const sampleDocument: GatewayDocument = {
  format: 2,
  gateway: {
    config: '/etc/gateway.cnf',
    cachedir: '/var/cache/gateway',
    datadir: '/var/lib/gateway/data',
    libdir: '/usr/lib/gateway',
    piddir: '/var/run/gateway',
    execdir: '/usr/bin',
    languagedir: '/var/lib/gateway',
    user: 'gateway',
    threads: 4,
    version: '2.1.0',
    commit: '54ef99d5fe2d1ed4ba8c9b4b4d65ff6a1ea4d7b1',
    started: '2016-08-31T23:29:26+03:00',
  },
  logs: {
    logdir: '/var/log/gateway',
    maxlog: true,
    syslog: false,
    log_levels: { error: true, warning: true, notice: true, info: false, debug: false },
    log_augmentation: { function: false },
    log_throttling: { limit: 8, window: 2, suppression: 10 },
    last_flushed: '2016-08-31T23:29:26+03:00',
  },
  threads: {
    load_average: { historic: 1.05, current: 1, '1min': 0.5, '5min': 0.25, '15min': 0.1 },
    threads: [
      { id: 0, state: 'processing', file_descriptors: 1, event: ['in', 'out'], run_time: 300 },
      { id: 1, state: 'polling', file_descriptors: 0, event: [], run_time: 0 },
    ],
  },
  tasks: [
    { name: 'Load Average', type: 'repeated', frequency: 10, next_due: '2016-09-05T14:12:37+03:00' },
    { name: 'Rotate', type: 'one-shot', frequency: 0, next_due: '2016-12-24T18:00:00+02:00' },
  ],
  modules: [
    { name: 'pgclient', type: 'Protocol', version: 'V1.1.0', api_version: '1.1.0', maturity: 'GA' },
    { name: 'qlafilter', type: 'Filter', version: 'V1.1.1', api_version: '1.1.0', maturity: 'GA' },
    { name: 'readconnroute', type: 'Router', version: 'V1.1.0', api_version: '1.0.0', maturity: 'GA' },
  ],
  servers: [
    {
      name: 'db-serv-1',
      address: '192.168.121.58',
      port: 5432,
      protocol: 'pgbackend',
      status: ['master', 'running'],
      parameters: { report_weight: 10, app_weight: '2', password: { sealed: planted.sealed } },
    },
    {
      name: 'DB Server 2',
      address: 'db2.example.test',
      port: 5433,
      protocol: 'pgbackend',
      status: ['maintenance', 'slave', 'running'],
      status_reason: 'in recovery',
      status_since: '2016-08-29T11:00:00+00:00',
      parameters: {},
    },
    {
      name: 'db-serv-3',
      address: '/run/db/.s.5434',
      protocol: 'pgbackend',
      status: [],
      parameters: { archive: true },
    },
    {
      name: 'Spare DB',
      address: '10.0.0.4',
      port: 5435,
      protocol: 'pgbackend',
      status: [],
      parameters: {},
      drain: {
        since: '2016-08-29T12:00:00+00:00',
        timeout: 600,
        until: '2016-08-29T12:10:00+00:00',
        then: 'close',
        reason: 'new kernel',
        by: 'ada',
      },
    },
  ],
  services: [
    {
      name: 'My Service',
      router: 'readconnroute',
      router_options: { router_options: 'master', weights: 'on', password: { sealed: planted.sealed } },
      state: 'started',
      started: '2016-08-29T12:52:31+03:00',
      total_connections: 10,
      servers: ['/servers/db-serv-1', '/servers/DB-Server-2'],
      filters: ['/filters/Query-Log', '/filters/Hint'],
      user: 'service_user',
      password: { sealed: planted.sealed },
      root_user: false,
      version_string: '9.6-gateway',
      weightby: 'report_weight',
      connection_timeout: 300,
      max_connection: 100,
      strip_db_esc: true,
      listeners: [
        { name: 'My Listener', protocol: 'pgclient', address: '127.0.0.1', port: 4006 },
        {
          name: 'Secure Listener',
          protocol: 'pgclient',
          address: '::',
          port: 4007,
          ssl: 'required',
          ssl_cert: '/etc/gateway/cert.pem',
          ssl_key: '/etc/gateway/key.pem',
          ssl_ca_cert: '/etc/gateway/ca.pem',
          parameters: {
            max_clients: 50,
            ciphers: 'HIGH',
            tcp_keepalive: false,
            password: { sealed: planted.sealed },
          },
        },
        { name: 'Local Listener', protocol: 'pgclient', address: '/run/gateway/local.sock' },
      ],
    },
    { name: 'Bare Service', router: 'cli', state: 'stopped' },
    {
      name: 'Report Service',
      router: 'readwritesplit',
      state: 'failed',
      state_reason: 'port 4009 is in use',
      state_since: '2016-08-29T11:00:00Z',
      servers: ['/servers/db-serv-3'],
      filters: ['/filters/Hint'],
    },
    {
      name: 'Spare Service',
      router: 'cli',
      state: 'stopped',
      drain: {
        since: '2016-08-29T12:00:00+00:00',
        timeout: 600,
        until: '2016-08-29T12:10:00+00:00',
        then: 'close',
        reason: 'old version',
        by: 'Grace',
        from: 'stopped',
      },
    },
  ],
  monitors: [
    {
      name: 'Main Monitor',
      module: 'pgmon',
      state: 'started',
      monitor_interval: 2500,
      connect_timeout: 5,
      read_timeout: 4,
      write_timeout: 3,
      servers: ['/servers/db-serv-1', '/servers/DB-Server-2'],
      parameters: { user: 'watcher', lag_limit: 30, failover: true, password: { sealed: planted.sealed } },
    },
    { name: 'Idle Monitor', module: 'pgmon', state: 'stopped' },
    {
      name: 'Failed Monitor',
      module: 'pgmon',
      state: 'failed',
      state_reason: 'cannot log in',
      state_since: '2016-08-29T11:00:00Z',
      servers: ['/servers/db-serv-1'],
    },
  ],
  filters: [
    {
      name: 'Hint',
      module: 'hintfilter',
      parameters: {
        match: { value: 'select', configurable: true },
        source: { value: '127.0.0.1', configurable: false },
        password: { value: { sealed: planted.sealed }, configurable: true },
      },
    },
    {
      name: 'Query Log',
      module: 'qlafilter',
      parameters: { filebase: { value: '/tmp/log', configurable: true } },
    },
    { name: 'Spare', module: 'tee' },
  ],
  users: [
    { name: 'ada', password: { sealed: planted.hash } },
    { name: 'Grace', password: { sealed: planted.hash } },
  ],
  sessions: [
    {
      id: 0,
      state: 'Session ready for routing',
      user: 'bob',
      address: '192.168.121.2',
      service: '/services/Bare-Service',
      connected: '2016-09-09T14:12:37+03:00',
      idle: 0,
    },
    {
      id: 9,
      state: 'Session ready for routing',
      user: 'alice',
      address: '192.168.121.1',
      service: '/services/My-Service',
      connected: '2016-09-09T14:12:37+03:00',
      idle: 42,
      connections: [
        {
          id: 4,
          state: 'In use',
          role: 'Slave',
          server: '/servers/DB-Server-2',
          statistics: { reads: 5, writes: 4, buffered_writes: 3, high_water_events: 2, low_water_events: 1 },
        },
        { id: 0, state: 'In use', role: 'Master', server: '/servers/db-serv-1' },
      ],
    },
    {
      id: 12,
      state: 'Stopping session',
      user: 'carol',
      address: '::1',
      service: '/services/My-Service',
      connected: '2016-12-24T06:07:08+02:00',
      connections: [{ state: 'Closing', role: 'Master', server: '/servers/db-serv-1' }],
    },
  ],
};

let sample: Snapshot | undefined;

/** The snapshot of {@link sampleDocument}. It is frozen: all tests can have the same one. */
export function sampleSnapshot(): Snapshot {
  return (sample ??= createSnapshot(sampleDocument, { epoch: 'sample' }));
}

/** A snapshot with one service and one server, and so many sessions with a connection each. */
export function crowdedSnapshot(sessions: number): Snapshot {
  return createSnapshot({
    servers: [{ name: 'db', address: '10.0.0.1', port: 5432, protocol: 'pgbackend' }],
    services: [{ name: 'Sales', router: 'readconnroute', servers: ['/servers/db'] }],
    sessions: Array.from({ length: sessions }, (_, id) => ({
      id,
      state: 'Session ready for routing',
      user: 'bob',
      address: '10.0.0.9',
      service: '/services/Sales',
      connected: '2016-09-09T14:12:37+03:00',
      connections: [{ id: 0, state: 'In use', role: 'Master', server: '/servers/db' }],
    })),
  });
}
