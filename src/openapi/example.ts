/**
 * Examples: what a running interface answers. Written by `npm run pages`.
 */
import type { Json } from '../index.ts';

/** The examples of one route: the body, the answer, and the plan of a dry run. */
interface RouteExample {
  readonly request?: Json;
  readonly answer?: Json;
  readonly plan?: Json;
}

/** The examples of each route by its id. @internal */
export const routeExamples: Readonly<Record<string, RouteExample>> = {
  'services.get': {
    answer: {
      name: 'My Service',
      router: 'readconnroute',
      router_options: { router_options: 'master', weights: 'on' },
      state: 'started',
      total_connections: 10,
      current_connections: 2,
      started: '2016-08-29T12:52:31+03:00',
      filters: ['/filters/Query-Log', '/filters/Hint'],
      servers: ['/servers/db-serv-1', '/servers/DB-Server-2'],
      user: 'service_user',
      root_user: false,
      version_string: '9.6-gateway',
      weightby: 'report_weight',
      connection_timeout: 300,
      max_connection: 100,
      strip_db_esc: true,
    },
  },
  'services.list': {
    answer: [
      {
        name: 'My Service',
        router: 'readconnroute',
        router_options: { router_options: 'master', weights: 'on' },
        state: 'started',
        total_connections: 10,
        current_connections: 2,
        started: '2016-08-29T12:52:31+03:00',
        filters: ['/filters/Query-Log', '/filters/Hint'],
        servers: ['/servers/db-serv-1', '/servers/DB-Server-2'],
        user: 'service_user',
        root_user: false,
        version_string: '9.6-gateway',
        weightby: 'report_weight',
        connection_timeout: 300,
        max_connection: 100,
        strip_db_esc: true,
      },
    ],
  },
  'services.listeners': {
    answer: [{ name: 'My Listener', protocol: 'pgclient', address: '0.0.0.0', port: 4006 }],
  },
  'services.patch': {
    request: [
      { op: 'replace', path: '/max_connection', value: 50 },
      { op: 'add', path: '/router_options/master_failure_mode', value: 'fail_instantly' },
      { op: 'remove', path: '/filters/0' },
    ],
    answer: {
      name: 'My Service',
      router: 'readconnroute',
      router_options: { router_options: 'master', weights: 'on', master_failure_mode: 'fail_instantly' },
      state: 'started',
      total_connections: 10,
      current_connections: 2,
      started: '2016-08-29T12:52:31+03:00',
      filters: ['/filters/Hint'],
      servers: ['/servers/db-serv-1', '/servers/DB-Server-2'],
      user: 'service_user',
      root_user: false,
      version_string: '9.6-gateway',
      weightby: 'report_weight',
      connection_timeout: 300,
      max_connection: 50,
      strip_db_esc: true,
    },
  },
  'services.stop': {
    plan: {
      outcome: 'accepted',
      events: [
        {
          type: 'service.stopped',
          at: 1473465600000,
          resource: '/services/My-Service',
          service: 'my-service',
        },
      ],
      effects: [{ type: 'service.stop', resource: '/services/My-Service', service: 'my-service' }],
      etag: '"sample.1.1"',
      closes: { sessions: 0, connections: 0 },
      stays: { sessions: 2 },
    },
  },
  'services.start': {
    plan: {
      outcome: 'accepted',
      events: [
        {
          type: 'service.started',
          at: 1473465600000,
          resource: '/services/Bare-Service',
          service: 'bare-service',
        },
      ],
      effects: [
        {
          type: 'service.start',
          resource: '/services/Bare-Service',
          service: 'bare-service',
          from: 'stopped',
        },
      ],
      etag: '"sample.1.1"',
      closes: { sessions: 0, connections: 0 },
      stays: { sessions: 0 },
    },
  },
  'services.sessions': { answer: ['/sessions/9'] },
  'services.closeSessions': {
    plan: {
      outcome: 'accepted',
      events: [
        {
          type: 'sessions.closed',
          at: 1473465600000,
          resource: '/services/My-Service',
          sessions: [
            { id: 9, connected: 1473419557000 },
            { id: 12, connected: 1482552428000 },
          ],
          count: 2,
        },
      ],
      effects: [
        {
          type: 'sessions.close',
          resource: '/services/My-Service',
          sessions: [
            { id: 9, connected: 1473419557000 },
            { id: 12, connected: 1482552428000 },
          ],
          count: 2,
        },
      ],
      etag: '"sample.0.1"',
      closes: { sessions: 2, connections: 3 },
      stays: { sessions: 0 },
    },
  },
  'servers.get': {
    answer: {
      name: 'DB Server 2',
      address: 'db2.example.test',
      port: 5433,
      protocol: 'pgbackend',
      status: ['maintenance', 'slave', 'running'],
      parameters: {},
    },
  },
  'servers.list': {
    answer: [
      {
        name: 'db-serv-1',
        address: '192.168.121.58',
        port: 5432,
        protocol: 'pgbackend',
        status: ['master', 'running'],
        parameters: { report_weight: 10, app_weight: '2' },
      },
    ],
  },
  'servers.patch': {
    request: [
      { op: 'replace', path: '/address', value: '192.168.0.100' },
      { op: 'replace', path: '/state/0', value: 'slave' },
    ],
    answer: {
      name: 'db-serv-1',
      address: '192.168.0.100',
      port: 5432,
      protocol: 'pgbackend',
      status: ['slave', 'running'],
      parameters: { report_weight: 10, app_weight: '2' },
      state: ['slave', 'running'],
    },
  },
  'servers.connections': {
    answer: [
      {
        state: 'In use',
        role: 'Master',
        server: '/servers/db-serv-1',
        service: '/services/My-Service',
        statistics: { reads: 0, writes: 0, buffered_writes: 0, high_water_events: 0, low_water_events: 0 },
      },
    ],
  },
  'servers.closeConnections': {
    plan: {
      outcome: 'accepted',
      events: [
        {
          type: 'connections.closed',
          at: 1473465600000,
          resource: '/servers/db-serv-1',
          server: 'db-serv-1',
          connections: [
            { session: 9, connected: 1473419557000, id: 0 },
            { session: 12, connected: 1482552428000, id: 0 },
          ],
          count: 2,
        },
      ],
      effects: [
        {
          type: 'connections.close',
          resource: '/servers/db-serv-1',
          server: 'db-serv-1',
          connections: [
            { session: 9, connected: 1473419557000, id: 0 },
            { session: 12, connected: 1482552428000, id: 0 },
          ],
          count: 2,
        },
      ],
      etag: '"sample.0.0"',
      closes: { sessions: 0, connections: 2 },
      stays: { sessions: 2 },
    },
  },
  'monitors.get': {
    answer: {
      name: 'Main Monitor',
      module: 'pgmon',
      state: 'started',
      monitor_interval: 2500,
      connect_timeout: 5,
      read_timeout: 4,
      write_timeout: 3,
      servers: ['/servers/db-serv-1', '/servers/DB-Server-2'],
      parameters: { user: 'watcher', lag_limit: 30, failover: true },
    },
  },
  'monitors.list': {
    answer: [
      {
        name: 'Main Monitor',
        module: 'pgmon',
        state: 'started',
        monitor_interval: 2500,
        connect_timeout: 5,
        read_timeout: 4,
        write_timeout: 3,
        servers: ['/servers/db-serv-1', '/servers/DB-Server-2'],
        parameters: { user: 'watcher', lag_limit: 30, failover: true },
      },
    ],
  },
  'monitors.stop': {
    plan: {
      outcome: 'accepted',
      events: [
        {
          type: 'monitor.stopped',
          at: 1473465600000,
          resource: '/monitors/Main-Monitor',
          monitor: 'main-monitor',
        },
      ],
      effects: [{ type: 'monitor.stop', resource: '/monitors/Main-Monitor', monitor: 'main-monitor' }],
      etag: '"sample.1.1"',
      closes: { sessions: 0, connections: 0 },
      stays: { sessions: 0 },
    },
  },
  'monitors.start': {
    plan: {
      outcome: 'accepted',
      events: [
        {
          type: 'monitor.started',
          at: 1473465600000,
          resource: '/monitors/Idle-Monitor',
          monitor: 'idle-monitor',
        },
      ],
      effects: [
        {
          type: 'monitor.start',
          resource: '/monitors/Idle-Monitor',
          monitor: 'idle-monitor',
          from: 'stopped',
        },
      ],
      etag: '"sample.1.1"',
      closes: { sessions: 0, connections: 0 },
      stays: { sessions: 0 },
    },
  },
  'monitors.patch': {
    request: [{ op: 'replace', path: '/monitor_interval', value: 5000 }],
    answer: {
      name: 'Main Monitor',
      module: 'pgmon',
      state: 'started',
      monitor_interval: 5000,
      connect_timeout: 5,
      read_timeout: 4,
      write_timeout: 3,
      servers: ['/servers/db-serv-1', '/servers/DB-Server-2'],
      parameters: { user: 'watcher', lag_limit: 30, failover: true },
    },
  },
  'gateway.get': {
    answer: {
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
      started: 'Wed, 31 Aug 2016 23:29:26 +0300',
    },
  },
  'gateway.threads': {
    answer: {
      load_average: { historic: 1.05, current: 1, '1min': 0.5, '5min': 0.25, '15min': 0.1 },
      threads: [
        { id: 0, state: 'processing', file_descriptors: 1, event: ['in', 'out'], run_time: 300 },
        { id: 1, state: 'polling', file_descriptors: 0, event: [], run_time: 0 },
      ],
    },
  },
  'gateway.logs': {
    answer: {
      logdir: '/var/log/gateway',
      maxlog: true,
      syslog: false,
      log_levels: { error: true, warning: true, notice: true, info: false, debug: false },
      log_augmentation: { function: false },
      log_throttling: { limit: 8, window: 2, suppression: 10 },
      last_flushed: 'Wed, 31 Aug 2016 23:29:26 +0300',
    },
  },
  'gateway.flushLogs': {
    plan: {
      outcome: 'accepted',
      events: [{ type: 'logs.flushed', at: 1473465600000, resource: '/gateway/logs' }],
      effects: [{ type: 'logs.flush', resource: '/gateway/logs' }],
      etag: '"sample.1.1"',
      closes: { sessions: 0, connections: 0 },
      stays: { sessions: 0 },
    },
  },
  'gateway.tasks': {
    answer: [
      { name: 'Load Average', type: 'repeated', frequency: 10, next_due: 'Mon Sep  5 14:12:37 2016' },
      { name: 'Rotate', type: 'one-shot', frequency: 0, next_due: 'Sat Dec 24 18:00:00 2016' },
    ],
  },
  'gateway.modules': {
    answer: [{ name: 'pgclient', type: 'Protocol', version: 'V1.1.0', api_version: '1.1.0', maturity: 'GA' }],
  },
  'sessions.get': {
    answer: {
      id: 9,
      state: 'Session ready for routing',
      user: 'alice',
      address: '192.168.121.1',
      service: '/services/My-Service',
      connected: 'Fri Sep  9 14:12:37 2016',
      idle: 42,
    },
  },
  'sessions.list': {
    answer: [
      {
        id: 0,
        state: 'Session ready for routing',
        user: 'bob',
        address: '192.168.121.2',
        service: '/services/Bare-Service',
        connected: 'Fri Sep  9 14:12:37 2016',
        idle: 0,
      },
    ],
  },
  'sessions.connections': {
    answer: [
      {
        state: 'In use',
        role: 'Slave',
        server: '/servers/DB-Server-2',
        service: '/services/My-Service',
        statistics: { reads: 5, writes: 4, buffered_writes: 3, high_water_events: 2, low_water_events: 1 },
      },
    ],
  },
  'sessions.close': {
    plan: {
      outcome: 'accepted',
      events: [
        {
          type: 'sessions.closed',
          at: 1473465600000,
          resource: '/sessions/9',
          sessions: [{ id: 9, connected: 1473419557000 }],
          count: 1,
        },
      ],
      effects: [
        {
          type: 'sessions.close',
          resource: '/sessions/9',
          sessions: [{ id: 9, connected: 1473419557000 }],
          count: 1,
        },
      ],
      closes: { sessions: 1, connections: 2 },
      stays: { sessions: 0 },
    },
  },
  'filters.get': {
    answer: {
      name: 'Hint',
      module: 'hintfilter',
      parameters: {
        match: { value: 'select', configurable: true },
        source: { value: '127.0.0.1', configurable: false },
      },
      services: ['/services/My-Service', '/services/Report-Service'],
    },
  },
  'filters.list': {
    answer: [
      {
        name: 'Hint',
        module: 'hintfilter',
        parameters: {
          match: { value: 'select', configurable: true },
          source: { value: '127.0.0.1', configurable: false },
        },
        services: ['/services/My-Service', '/services/Report-Service'],
      },
    ],
  },
  'filters.patch': {
    request: [
      { op: 'replace', path: '/parameters/match/value', value: 'insert' },
      { op: 'add', path: '/parameters/replace/value', value: 'update' },
    ],
    answer: {
      name: 'Hint',
      module: 'hintfilter',
      parameters: {
        match: { value: 'insert', configurable: true },
        source: { value: '127.0.0.1', configurable: false },
        replace: { value: 'update', configurable: true },
      },
      services: ['/services/My-Service', '/services/Report-Service'],
    },
  },
  'users.list': { answer: [{ name: 'ada' }] },
  'users.create': {
    request: { name: 'Joan99', password: 'correct horse' },
    plan: {
      outcome: 'accepted',
      events: [
        {
          type: 'user.created',
          at: 1473465600000,
          resource: '/users/Joan99',
          user: 'joan99',
          name: 'Joan99',
        },
      ],
      effects: [],
      etag: '"sample.1.1"',
      closes: { sessions: 0, connections: 0 },
      stays: { sessions: 0 },
    },
  },
  'users.patch': {
    request: [{ op: 'replace', path: '/password', value: 'battery staple' }],
    answer: { name: 'ada' },
  },
  'users.delete': {
    plan: {
      outcome: 'accepted',
      events: [{ type: 'user.deleted', at: 1473465600000, resource: '/users/Grace', user: 'grace' }],
      effects: [],
      etag: '"sample.1.1"',
      closes: { sessions: 0, connections: 0 },
      stays: { sessions: 0 },
    },
  },
  'commands.list': {
    answer: [
      {
        id: 'sample-1',
        type: 'monitor.stopped',
        resource: '/monitors/Main-Monitor',
        resources: ['/monitors/Main-Monitor'],
        since: '2016-09-10T03:00:00+03:00',
        outcome: 'unknown',
      },
    ],
  },
  'commands.abandon': {
    plan: {
      outcome: 'accepted',
      events: [],
      effects: [],
      closes: { sessions: 0, connections: 0 },
      stays: { sessions: 0 },
    },
  },
  'interface.get': {
    answer: {
      ready: true,
      read_only: false,
      unknown_outcomes: 0,
      time_zone: 'Europe/Helsinki',
      version: '0.1.0',
      links: {
        services: '/services',
        servers: '/servers',
        monitors: '/monitors',
        gateway: '/gateway',
        threads: '/gateway/threads',
        tasks: '/gateway/tasks',
        modules: '/gateway/modules',
        logs: '/gateway/logs',
        sessions: '/sessions',
        filters: '/filters',
        users: '/users',
        commands: '/commands',
        fleet: '/fleet',
        events: '/events',
      },
    },
  },
  'interface.patch': {
    request: [{ op: 'replace', path: '/read_only', value: true }],
    answer: {
      ready: true,
      read_only: true,
      unknown_outcomes: 0,
      time_zone: 'Europe/Helsinki',
      version: '0.1.0',
      links: {
        services: '/services',
        servers: '/servers',
        monitors: '/monitors',
        gateway: '/gateway',
        threads: '/gateway/threads',
        tasks: '/gateway/tasks',
        modules: '/gateway/modules',
        logs: '/gateway/logs',
        sessions: '/sessions',
        filters: '/filters',
        users: '/users',
        commands: '/commands',
        fleet: '/fleet',
        events: '/events',
      },
    },
  },
  'fleet.list': {
    answer: [
      {
        node: 'berlin',
        version: '0.1.0',
        alive: true,
        seen: 0,
        position: '4.5f0c8e21a9b3',
        applied: '4.5f0c8e21a9b3',
        behind: [],
        differs: false,
      },
    ],
  },
  'fleet.retry': {
    plan: {
      outcome: 'accepted',
      events: [],
      effects: [],
      closes: { sessions: 0, connections: 0 },
      stays: { sessions: 0 },
    },
  },
  'fleet.forget': {
    plan: {
      outcome: 'accepted',
      events: [],
      effects: [],
      closes: { sessions: 0, connections: 0 },
      stays: { sessions: 0 },
    },
  },
};

/** A problem of each code. @internal */
export const problemExamples: Readonly<Record<string, Json>> = {
  'path-encoding-invalid': {
    type: 'urn:problem-type:gateway-admin:path-encoding-invalid',
    title: 'The path has a broken escape',
    status: 400,
    detail:
      'The path contains a percent sign that does not begin an escape of UTF-8, such as %20. Write a percent sign itself as %25.',
    code: 'path-encoding-invalid',
  },
  'fields-invalid': {
    type: 'urn:problem-type:gateway-admin:fields-invalid',
    title: 'The list of fields is malformed',
    status: 400,
    detail:
      'There is no field "nothing" here. The fields are: name, router, router_options, state, state_reason, state_since, total_connections, current_connections, started, filters, servers, user, root_user, version_string, weightby, connection_timeout, max_connection, strip_db_esc.',
    code: 'fields-invalid',
  },
  'query-invalid': {
    type: 'urn:problem-type:gateway-admin:query-invalid',
    title: 'The query is not supported here',
    status: 400,
    detail: 'The parameter "nothing" is not supported here. Supported: fields.',
    code: 'query-invalid',
  },
  'header-invalid': {
    type: 'urn:problem-type:gateway-admin:header-invalid',
    title: 'A header is malformed',
    status: 400,
    detail:
      'If-Match and If-None-Match must be * or a list of entity tags in double quotes, such as "x.7.9", "x.8.9".',
    code: 'header-invalid',
  },
  unauthenticated: {
    type: 'urn:problem-type:gateway-admin:unauthenticated',
    title: 'Authentication is needed',
    status: 401,
    detail: 'The credentials are missing, wrong or no longer valid. Send valid ones.',
    code: 'unauthenticated',
  },
  forbidden: {
    type: 'urn:problem-type:gateway-admin:forbidden',
    title: 'This is not allowed',
    status: 403,
    detail: 'You are not allowed to do this. Ask an administrator of this gateway for the permission.',
    code: 'forbidden',
  },
  'origin-refused': {
    type: 'urn:problem-type:gateway-admin:origin-refused',
    title: 'This origin is not allowed',
    status: 403,
    detail:
      'The header Host names "gateway.example". Without a log-in, the interface answers only under an IP address and under localhost. To allow a name, add it to the option allowedHosts.',
    code: 'origin-refused',
  },
  'service-not-found': {
    type: 'urn:problem-type:gateway-admin:service-not-found',
    title: 'There is no such service',
    status: 404,
    detail: 'There is no service named "77777". GET /services lists the existing ones.',
    code: 'service-not-found',
  },
  'uri-too-long': {
    type: 'urn:problem-type:gateway-admin:uri-too-long',
    title: 'The request target is too long',
    status: 414,
    detail: 'The path and the query together may have at most 8192 bytes. Shorten them.',
    code: 'uri-too-long',
  },
  'login-throttled': {
    type: 'urn:problem-type:gateway-admin:login-throttled',
    title: 'Too many log-ins',
    status: 429,
    detail: 'Too many log-ins at once. Try again in a second.',
    code: 'login-throttled',
  },
  internal: {
    type: 'urn:problem-type:gateway-admin:internal',
    title: 'Internal error',
    status: 500,
    detail:
      'The administration interface failed with an internal error. The error was reported to the gateway. If you sent a command, read the resource before you send the command again.',
    code: 'internal',
  },
  overloaded: {
    type: 'urn:problem-type:gateway-admin:overloaded',
    title: 'Too many commands are waiting',
    status: 503,
    detail: 'The password was not checked in time. Try again later.',
    code: 'overloaded',
  },
  'range-invalid': {
    type: 'urn:problem-type:gateway-admin:range-invalid',
    title: 'The range is malformed',
    status: 400,
    detail: 'The parameter "range" must begin with the lower position.',
    code: 'range-invalid',
  },
  'body-missing': {
    type: 'urn:problem-type:gateway-admin:body-missing',
    title: 'The request needs a body',
    status: 400,
    detail: 'The body is empty. Send a JSON value.',
    code: 'body-missing',
  },
  'body-encoding-invalid': {
    type: 'urn:problem-type:gateway-admin:body-encoding-invalid',
    title: 'The body is not UTF-8',
    status: 400,
    detail: 'The body is not UTF-8. Send JSON as UTF-8.',
    code: 'body-encoding-invalid',
  },
  'body-not-json': {
    type: 'urn:problem-type:gateway-admin:body-not-json',
    title: 'The body is not JSON',
    status: 400,
    detail:
      'The body is not JSON: expected a value, found the end of the text, at character 1 (counted from 0).',
    code: 'body-not-json',
  },
  'body-duplicate-key': {
    type: 'urn:problem-type:gateway-admin:body-duplicate-key',
    title: 'The body names a member twice',
    status: 400,
    detail: 'An object has two members of the same name, at character 7 (counted from 0).',
    code: 'body-duplicate-key',
  },
  'body-too-deep': {
    type: 'urn:problem-type:gateway-admin:body-too-deep',
    title: 'The body is nested too deeply',
    status: 400,
    detail: 'The body is nested more than 32 levels deep, at character 32 (counted from 0).',
    code: 'body-too-deep',
  },
  'number-out-of-range': {
    type: 'urn:problem-type:gateway-admin:number-out-of-range',
    title: 'A number cannot be represented',
    status: 400,
    detail:
      'A number must be finite, and an integer must be from -(2^53 - 1) to 2^53 - 1, at character 1 (counted from 0).',
    code: 'number-out-of-range',
  },
  'patch-malformed': {
    type: 'urn:problem-type:gateway-admin:patch-malformed',
    title: 'The body is not a JSON Patch',
    status: 400,
    detail: 'A JSON Patch must be an array of operations, such as [{"op":"replace","path":"/a","value":1}].',
    code: 'patch-malformed',
  },
  'pointer-invalid': {
    type: 'urn:problem-type:gateway-admin:pointer-invalid',
    title: 'A JSON Pointer is malformed',
    status: 400,
    detail:
      '/0/path: must be "" or start with "/", have 0 or 1 after each "~", and at most 1024 characters and 32 tokens',
    code: 'pointer-invalid',
    errors: [
      {
        pointer: '/0/path',
        operation: 0,
        code: 'pointer-invalid',
        detail:
          'must be "" or start with "/", have 0 or 1 after each "~", and at most 1024 characters and 32 tokens',
      },
    ],
  },
  'read-only': {
    type: 'urn:problem-type:gateway-admin:read-only',
    title: 'The interface is read-only',
    status: 403,
    detail:
      'The interface is read-only at the moment. Nothing was changed. An administrator can end this with PATCH /, and GET / shows the mode.',
    code: 'read-only',
  },
  'body-timeout': {
    type: 'urn:problem-type:gateway-admin:body-timeout',
    title: 'The body did not arrive in time',
    status: 408,
    detail: 'The body did not arrive within 30 seconds. Nothing was changed. Send the request again.',
    code: 'body-timeout',
  },
  'patch-path-missing': {
    type: 'urn:problem-type:gateway-admin:patch-path-missing',
    title: 'The patch names a place that does not exist',
    status: 409,
    detail: '/name/nothing: does not exist: "/name" is a scalar and has no members',
    code: 'patch-path-missing',
    errors: [
      {
        pointer: '/name/nothing',
        operation: 0,
        code: 'patch-path-missing',
        detail: 'does not exist: "/name" is a scalar and has no members',
      },
    ],
  },
  'patch-test-failed': {
    type: 'urn:problem-type:gateway-admin:patch-test-failed',
    title: 'A test of the patch failed',
    status: 409,
    detail: '/name: does not equal the value of the test; read the present value and adapt the patch',
    code: 'patch-test-failed',
    errors: [
      {
        pointer: '/name',
        operation: 0,
        code: 'patch-test-failed',
        detail: 'does not equal the value of the test; read the present value and adapt the patch',
      },
    ],
  },
  'command-in-progress': {
    type: 'urn:problem-type:gateway-admin:command-in-progress',
    title: 'An earlier command is in flight',
    status: 409,
    detail:
      'The outcome of an earlier command (sample-1) on this resource is not known yet, so this command was refused. Nothing was changed. Try again in a moment. If that does not help, check whether the gateway hangs, or abandon the earlier command with DELETE /commands/sample-1.',
    code: 'command-in-progress',
    command: 'sample-1',
  },
  'effect-refused': {
    type: 'urn:problem-type:gateway-admin:effect-refused',
    title: 'The gateway refused or did not make the change',
    status: 409,
    detail: 'The gateway refused: The gateway is busy. Nothing was changed.',
    code: 'effect-refused',
  },
  'precondition-failed': {
    type: 'urn:problem-type:gateway-admin:precondition-failed',
    title: 'A condition of the request is not met',
    status: 412,
    detail:
      'The resource has changed since you read the entity tag in If-Match, so the command was refused. Read the resource again, and send the command again if it still makes sense.',
    code: 'precondition-failed',
  },
  'content-too-large': {
    type: 'urn:problem-type:gateway-admin:content-too-large',
    title: 'The body is too large',
    status: 413,
    detail: 'The body may have at most 1048576 bytes. Send a smaller one.',
    code: 'content-too-large',
  },
  'unsupported-media-type': {
    type: 'urn:problem-type:gateway-admin:unsupported-media-type',
    title: 'The media type is not supported here',
    status: 415,
    detail:
      'The media type of the body is missing or not supported here. Send Content-Type: application/json-patch+json or application/json-patch or application/json.',
    code: 'unsupported-media-type',
  },
  'validation-failed': {
    type: 'urn:problem-type:gateway-admin:validation-failed',
    title: 'The content is not valid',
    status: 422,
    detail: '/router_options/max: must be a string, not a number',
    code: 'validation-failed',
    errors: [
      {
        pointer: '/router_options/max',
        code: 'validation-failed',
        detail: 'must be a string, not a number',
        operation: 0,
      },
    ],
  },
  'field-not-modifiable': {
    type: 'urn:problem-type:gateway-admin:field-not-modifiable',
    title: 'The field cannot be modified',
    status: 422,
    detail:
      '/name: names a field that cannot be modified; modifiable fields: router_options, filters, servers, user, password, root_user, version_string, weightby, connection_timeout, max_connection, strip_db_esc',
    code: 'field-not-modifiable',
    errors: [
      {
        pointer: '/name',
        operation: 0,
        code: 'field-not-modifiable',
        detail:
          'names a field that cannot be modified; modifiable fields: router_options, filters, servers, user, password, root_user, version_string, weightby, connection_timeout, max_connection, strip_db_esc',
      },
    ],
  },
  'field-unknown': {
    type: 'urn:problem-type:gateway-admin:field-unknown',
    title: 'There is no such field',
    status: 422,
    detail:
      '/nothing: names no field of this resource; modifiable fields: router_options, filters, servers, user, password, root_user, version_string, weightby, connection_timeout, max_connection, strip_db_esc',
    code: 'field-unknown',
    errors: [
      {
        pointer: '/nothing',
        operation: 0,
        code: 'field-unknown',
        detail:
          'names no field of this resource; modifiable fields: router_options, filters, servers, user, password, root_user, version_string, weightby, connection_timeout, max_connection, strip_db_esc',
      },
    ],
  },
  'field-write-only': {
    type: 'urn:problem-type:gateway-admin:field-write-only',
    title: 'The field can only be written',
    status: 422,
    detail:
      '/password: names a secret, which a patch cannot read or compare; add, replace or remove the whole secret',
    code: 'field-write-only',
    errors: [
      {
        pointer: '/password',
        operation: 0,
        code: 'field-write-only',
        detail:
          'names a secret, which a patch cannot read or compare; add, replace or remove the whole secret',
      },
    ],
  },
  'op-not-allowed': {
    type: 'urn:problem-type:gateway-admin:op-not-allowed',
    title: 'The operation is not allowed here',
    status: 422,
    detail:
      'must name a field, because a patch cannot change the whole resource; modifiable fields: router_options, filters, servers, user, password, root_user, version_string, weightby, connection_timeout, max_connection, strip_db_esc',
    code: 'op-not-allowed',
    errors: [
      {
        pointer: '',
        operation: 0,
        code: 'op-not-allowed',
        detail:
          'must name a field, because a patch cannot change the whole resource; modifiable fields: router_options, filters, servers, user, password, root_user, version_string, weightby, connection_timeout, max_connection, strip_db_esc',
      },
    ],
  },
  'reserved-key': {
    type: 'urn:problem-type:gateway-admin:reserved-key',
    title: 'A reserved key is used',
    status: 422,
    detail: '/__proto__: "__proto__" is not allowed as a key',
    code: 'reserved-key',
    errors: [
      {
        pointer: '/__proto__',
        operation: 0,
        code: 'reserved-key',
        detail: '"__proto__" is not allowed as a key',
      },
    ],
  },
  'link-unresolved': {
    type: 'urn:problem-type:gateway-admin:link-unresolved',
    title: 'A link does not resolve',
    status: 422,
    detail: '/filters/0: must be a relative link of the form /filters/<name>',
    code: 'link-unresolved',
    errors: [
      {
        pointer: '/filters/0',
        code: 'link-unresolved',
        detail: 'must be a relative link of the form /filters/<name>',
        operation: 0,
      },
    ],
  },
  'password-unacceptable': {
    type: 'urn:problem-type:gateway-admin:password-unacceptable',
    title: 'The password is not acceptable',
    status: 422,
    detail: '/password: must be a string of 1 to 1024 bytes in UTF-8 without control characters',
    code: 'password-unacceptable',
    errors: [
      {
        pointer: '/password',
        operation: 0,
        code: 'password-unacceptable',
        detail: 'must be a string of 1 to 1024 bytes in UTF-8 without control characters',
      },
    ],
  },
  'secret-not-storable': {
    type: 'urn:problem-type:gateway-admin:secret-not-storable',
    title: 'The secret cannot be stored',
    status: 422,
    detail:
      '/password: cannot be stored: the configuration outlives the process, and the key that seals secrets does not. Configure a lasting key for the gateway first',
    code: 'secret-not-storable',
    errors: [
      {
        pointer: '/password',
        operation: 0,
        code: 'secret-not-storable',
        detail:
          'cannot be stored: the configuration outlives the process, and the key that seals secrets does not. Configure a lasting key for the gateway first',
      },
    ],
  },
  'patch-too-many-operations': {
    type: 'urn:problem-type:gateway-admin:patch-too-many-operations',
    title: 'The patch has too many operations',
    status: 422,
    detail: 'The patch has 101 operations; at most 100 are allowed. Send several patches.',
    code: 'patch-too-many-operations',
  },
  'patch-result-too-large': {
    type: 'urn:problem-type:gateway-admin:patch-result-too-large',
    title: 'The result of the patch is too large',
    status: 422,
    detail: '/router_options/b: would make the document larger than 1048576 bytes',
    code: 'patch-result-too-large',
    errors: [
      {
        pointer: '/router_options/b',
        operation: 1,
        code: 'patch-result-too-large',
        detail: 'would make the document larger than 1048576 bytes',
      },
    ],
  },
  'audit-unavailable': {
    type: 'urn:problem-type:gateway-admin:audit-unavailable',
    title: 'Audit records cannot be kept',
    status: 503,
    detail:
      'The audit records of earlier commands are not kept yet, so this command was refused. Nothing was changed. Reading still works. Send the command again in a few seconds. If that does not help, repair the audit sink as the error in the log of the gateway says.',
    code: 'audit-unavailable',
  },
  fenced: {
    type: 'urn:problem-type:gateway-admin:fenced',
    title: 'The fleet has ended the command',
    status: 503,
    detail:
      'The other nodes of the fleet took this one for dead and have ended the command. What this node did is being taken back. Look at the state, and send the command again.',
    code: 'fenced',
    command: 'own-5f0c8e21a9b3-1',
  },
  'node-outdated': {
    type: 'urn:problem-type:gateway-admin:node-outdated',
    title: 'This node is too old for the fleet',
    status: 503,
    detail:
      'The fleet uses a later version of the administration interface than this node. Nothing was changed. Reading still works, and the gateway goes on with what it last had. Send the command to another node, and update this one.',
    code: 'node-outdated',
  },
  'node-behind': {
    type: 'urn:problem-type:gateway-admin:node-behind',
    title: 'The gateway has not followed the fleet',
    status: 409,
    detail:
      'The gateway of this node has not followed a change of /services/My-Service yet that another node has made. The gateway refused: There is no room. Nothing was changed. Try again in a moment, send the command to another node, or take the change back there.',
    code: 'node-behind',
  },
  'store-unavailable': {
    type: 'urn:problem-type:gateway-admin:store-unavailable',
    title: 'The configuration store is unavailable',
    status: 503,
    detail:
      'The configuration store does not answer. Nothing was changed. Reading still works. The store is being tried again. Send the command again in a few seconds.',
    code: 'store-unavailable',
  },
  closed: {
    type: 'urn:problem-type:gateway-admin:closed',
    title: 'The administration interface is closed',
    status: 503,
    detail:
      'The administration interface is closed. Nothing was changed. Send the command again when the interface is running again.',
    code: 'closed',
  },
  'outcome-unknown': {
    type: 'urn:problem-type:gateway-admin:outcome-unknown',
    title: 'The outcome is not known yet',
    status: 504,
    detail:
      'The gateway did not say in time whether the change was made (command sample-1). The gateway is still being asked. Read the resource again before you repeat the command. An event with this command id gives the outcome.',
    code: 'outcome-unknown',
    command: 'sample-1',
  },
  'partly-done': {
    type: 'urn:problem-type:gateway-admin:partly-done',
    title: 'The gateway refused after a part was done',
    status: 409,
    detail: 'The gateway refused: The gateway is busy. 1 of 2 parts were done before that, and stay done.',
    code: 'partly-done',
  },
  'server-not-found': {
    type: 'urn:problem-type:gateway-admin:server-not-found',
    title: 'There is no such server',
    status: 404,
    detail: 'There is no server named "77777". GET /servers lists the existing ones.',
    code: 'server-not-found',
  },
  'monitor-not-found': {
    type: 'urn:problem-type:gateway-admin:monitor-not-found',
    title: 'There is no such monitor',
    status: 404,
    detail: 'There is no monitor named "77777". GET /monitors lists the existing ones.',
    code: 'monitor-not-found',
  },
  'session-id-invalid': {
    type: 'urn:problem-type:gateway-admin:session-id-invalid',
    title: 'The session id is malformed',
    status: 400,
    detail:
      'The session id must be a whole number from 0 to 9007199254740991 without leading zeros, not "x".',
    code: 'session-id-invalid',
  },
  'session-not-found': {
    type: 'urn:problem-type:gateway-admin:session-not-found',
    title: 'There is no such session',
    status: 404,
    detail: 'There is no session 77777; the session may have ended. GET /sessions lists the open sessions.',
    code: 'session-not-found',
  },
  'filter-not-found': {
    type: 'urn:problem-type:gateway-admin:filter-not-found',
    title: 'There is no such filter',
    status: 404,
    detail: 'There is no filter named "77777". GET /filters lists the existing ones.',
    code: 'filter-not-found',
  },
  'parameter-not-configurable': {
    type: 'urn:problem-type:gateway-admin:parameter-not-configurable',
    title: 'The parameter cannot be configured',
    status: 422,
    detail: '/parameters/source: is not configurable: a patch can neither change nor remove this parameter',
    code: 'parameter-not-configurable',
    errors: [
      {
        pointer: '/parameters/source',
        code: 'parameter-not-configurable',
        detail: 'is not configurable: a patch can neither change nor remove this parameter',
        operation: 0,
      },
    ],
  },
  'user-exists': {
    type: 'urn:problem-type:gateway-admin:user-exists',
    title: 'The user exists already',
    status: 409,
    detail:
      'There is already a user named "ada", in this or another case. Change the password of that user, or choose another name.',
    code: 'user-exists',
  },
  'user-not-found': {
    type: 'urn:problem-type:gateway-admin:user-not-found',
    title: 'There is no such user',
    status: 404,
    detail: 'There is no user named "77777". GET /users lists the existing ones.',
    code: 'user-not-found',
  },
  'last-user': {
    type: 'urn:problem-type:gateway-admin:last-user',
    title: 'The last user cannot be deleted',
    status: 409,
    detail: 'This is the last user, and without users nobody can log in. Create another user first.',
    code: 'last-user',
  },
  'command-not-found': {
    type: 'urn:problem-type:gateway-admin:command-not-found',
    title: 'There is no such command in flight',
    status: 404,
    detail:
      'No command with this id is in flight. The command may have ended: an event with its id says so. GET /commands lists the commands in flight.',
    code: 'command-not-found',
  },
  'command-not-abandonable': {
    type: 'urn:problem-type:gateway-admin:command-not-abandonable',
    title: 'The command cannot be abandoned',
    status: 409,
    detail:
      'The outcome of the command sample-1 is still awaited. A command can be abandoned only once its outcome is unknown. Wait for the answer of the command.',
    code: 'command-not-abandonable',
    command: 'sample-1',
  },
  'node-not-found': {
    type: 'urn:problem-type:gateway-admin:node-not-found',
    title: 'There is no such node',
    status: 404,
    detail: 'This gateway is no node of a fleet.',
    code: 'node-not-found',
  },
  'node-alive': {
    type: 'urn:problem-type:gateway-admin:node-alive',
    title: 'The node may be alive',
    status: 409,
    detail: 'The node "berlin" answers this request, so it is alive. End its process, and ask another node.',
    code: 'node-alive',
  },
};
