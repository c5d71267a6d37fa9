/**
 * Descriptions: what the documentation comments of the sources say. Written by `npm run pages`.
 */

/** The descriptions of a component by the path to a field; `*` is each item of a list or map. @internal */
export const descriptions: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Service: {
    '': 'A service in a response.',
    name: 'Name of the service.',
    router: 'Name of the router module.',
    state: 'State of the service.',
    state_reason:
      'Why the service has failed, in the words of the host; left out unless it has failed with a reason.',
    state_since:
      'Since when the service has failed: ISO 8601 with a numeric offset; left out unless it has failed.',
    total_connections: 'Number of sessions ever opened on the service. Never decreases.',
    current_connections: 'Number of sessions open on the service now.',
    started:
      'Time of the last start: ISO 8601 with a numeric offset; left out for a service that was never started.',
    filters: 'Links of the filters, in order; left out if there are none.',
    servers: 'Links of the servers of the service.',
    router_options: 'Options of the router: texts by name, at most 1,000.',
    user: 'Name of the service user.',
    root_user: 'Whether the root user may connect.',
    version_string: 'Version string for connecting clients.',
    weightby: 'Name of the server parameter that weights connections.',
    connection_timeout: 'Idle time after which a client is disconnected, in seconds; 0 for no limit.',
    max_connection: 'Maximum number of connections; 0 for no limit.',
    strip_db_esc: 'Whether escape characters are stripped from the default database name.',
  },
  Listener: {
    '': 'A listener in a response: a network listener of a service. The `ssl` fields are present only if SSL is configured.',
    name: 'Name of the listener.',
    protocol: 'Name of the protocol module.',
    address: 'Bind address: a host name, an IP address or the path of a socket.',
    port: 'Port, 1 to 65535; may be left out if the address is the path of a socket.',
    ssl: 'SSL mode, such as `required`.',
    ssl_cert: 'Path of the certificate.',
    ssl_key: 'Path of the private key.',
    ssl_ca_cert: 'Path of the certificate of the authority.',
    parameters: 'Parameters of the protocol module by name: numbers, texts or booleans.',
  },
  Server: {
    '': 'A server in a response.',
    name: 'Name of the server.',
    protocol: 'Name of the protocol module.',
    status: 'The status: words in the given order; empty if the server is down.',
    address: 'Host name, IP address without port, or path of a socket.',
    port: 'Port, 1 to 65535; may be left out if the address is the path of a socket.',
    parameters: 'Custom parameters by name, including weights: numbers, texts or booleans.',
  },
  Monitor: {
    '': 'A monitor in a response.',
    name: 'Name of the monitor.',
    module: 'Name of the monitor module.',
    state: 'State of the monitor.',
    state_reason:
      'Why the monitor has failed, in the words of the host; left out unless it has failed with a reason.',
    state_since:
      'Since when the monitor has failed: ISO 8601 with a numeric offset; left out unless it has failed.',
    parameters: 'Parameters of the monitor module by name; left out if there are none.',
    servers: 'Links of the monitored servers.',
    monitor_interval: 'Time between two probes, in milliseconds: 1 to 2147483647.',
    connect_timeout: 'Time limit for connecting, in seconds; 0 for no limit.',
    read_timeout: 'Time limit for reading, in seconds; 0 for no limit.',
    write_timeout: 'Time limit for writing, in seconds; 0 for no limit.',
  },
  Instance: {
    '': 'The gateway instance in a response.',
    config: 'Path of the configuration file.',
    cachedir: 'Path of the cache directory.',
    datadir: 'Path of the data directory.',
    libdir: 'Path of the directory of libraries.',
    piddir: 'Path of the directory of the process id file.',
    execdir: 'Path of the directory of executables.',
    languagedir: 'Path of the directory of language files.',
    user: 'Operating system user of the instance.',
    threads: 'Number of threads.',
    version: 'Version of the instance.',
    commit: 'Identifier of the source commit: a hexadecimal string.',
    started: 'Start time, such as `Wed, 31 Aug 2016 23:29:26 +0300`.',
  },
  ThreadInformation: {
    '': 'The threads and their load, in a snapshot and in a response.',
    load_average: 'Load averages: `historic`, `current`, `1min`, `5min`, `15min`.',
    threads: 'The threads.',
    'threads.*.id': 'Number of the thread.',
    'threads.*.state': 'State of the thread, such as `processing` or `polling`.',
    'threads.*.file_descriptors': 'Number of file descriptors that the thread serves.',
    'threads.*.event':
      'The events that the thread handles, such as `in` and `out`; empty for an idle thread.',
    'threads.*.run_time': 'Run time; a plain number.',
  },
  Task: {
    '': 'A task in a response.',
    next_due: 'Time of the next run, such as `Fri Sep 9 14:12:37 2016`.',
    name: 'Name of the task.',
    type: 'Type of the task, such as `repeated`.',
    frequency: 'Frequency of the task; a plain number.',
  },
  Module: {
    '': 'A loaded module.',
    name: 'Name of the module.',
    type: 'Type of the module, such as `Protocol`, `Filter` or `Router`.',
    version: 'Version of the module.',
    api_version: 'Version of the module interface that the module implements.',
    maturity: 'Maturity of the module, such as `GA`.',
  },
  Logging: {
    '': 'The logging in a response.',
    logdir: 'Path of the log directory.',
    maxlog: 'Whether the instance writes its log file.',
    syslog: 'Whether the instance writes to the system log.',
    log_levels: 'The enabled levels: `error`, `warning`, `notice`, `info`, `debug`.',
    log_augmentation: 'Whether messages contain the name of the `function`.',
    log_throttling: 'Limits on repeated messages.',
    last_flushed: 'Time of the last flush, such as `Wed, 31 Aug 2016 23:29:26 +0300`.',
  },
  Session: {
    '': 'A session in a response.',
    id: 'Session id.',
    state: 'Descriptive text of the session state.',
    user: 'Client user name.',
    address: 'Client address.',
    service: 'Link of the service of the session.',
    connected: 'Connect time, such as `Fri Sep 9 14:12:37 2016`.',
    idle: 'Idle time; a plain number.',
  },
  Connection: {
    '': 'A backend connection in a response.',
    state: 'Descriptive text of the connection state.',
    role: 'Descriptive text of the connection role.',
    server: 'Link of the server of the connection.',
    service: 'Link of the service whose session opened the connection.',
    statistics: 'Counters of the connection.',
    'statistics.reads': 'The number of reads.',
    'statistics.writes': 'The number of writes.',
    'statistics.buffered_writes': 'The number of buffered writes.',
    'statistics.high_water_events': 'The number of times that the buffer rose above its high-water mark.',
    'statistics.low_water_events': 'The number of times that the buffer fell below its low-water mark.',
  },
  Filter: {
    '': 'A filter in a response.',
    name: 'Name of the filter.',
    module: 'Name of the filter module.',
    services: 'Links of the services that use the filter, in declaration order.',
    parameters: 'The parameters by name, at most 1,000.',
    'parameters.*.value': 'Value of the parameter.',
    'parameters.*.configurable': 'Whether a patch may change or remove the parameter.',
  },
  User: { '': 'An admin user in a response.', name: 'User name: 1 to 64 ASCII letters and digits.' },
  Command: {
    '': 'A command in flight in a response.',
    since: 'The time of the turn, such as `2016-08-29T12:52:31+03:00`.',
    type: 'Type of the first event of the command, such as `service.stopped`.',
    id: 'Id of the command. The events of the command have the same id.',
    resource: 'Link of the resource that the command changes.',
    resources: 'Links of the resources that no other command may use meanwhile.',
    actor: 'Name of the principal who sent the command; left out if the caller is not known.',
    outcome:
      '`pending`: the caller waits for the outcome. `unknown`: the gateway or the store did not answer in time, and the caller was told that the outcome is unknown. Only an `unknown` command can be abandoned.',
  },
  FleetNode: {
    '': 'A node of a fleet in a response.',
    behind: 'Where its gateway is not what the fleet has.',
    'behind.*.since': 'Since when, such as `2016-08-29T12:52:31+03:00`, by the clock of that node.',
    'behind.*.resource': 'Link of the resource.',
    'behind.*.code':
      'The code of the problem, such as `effect-refused`; left out while the gateway is asked for the first time.',
    'behind.*.detail': 'Why, for people.',
    node: 'The name of the node.',
    version: 'The version of the library that the node runs.',
    alive: 'Whether the node that was asked has heard the node within the lease.',
    seen: 'The time since the node that was asked has heard the node, in seconds; 0 for itself.',
    position: 'How far the node has read the log.',
    applied: 'How far its gateway has come; another position than `position` while it follows.',
    differs:
      'Whether the node has read another configuration out of the same log than this one. That is a fault of the library or of the store: report it, and restart the node that is wrong.',
  },
  Interface: {
    '': 'The interface in a response.',
    ready: 'Whether the interface takes commands: the interface is not closed, and its store answers.',
    read_only:
      'Whether every request that would change something is refused. Only a JSON Patch or the program changes the mode.',
    store:
      'Whether the configuration store answers: `ok`, `retrying` while calls that failed are made again, `lost` if only a restart helps. Left out without a store.',
    unknown_outcomes: 'Number of commands in flight whose outcome is unknown.',
    time_zone:
      'Time zone of all times: an IANA name, such as `Europe/Helsinki`, or an offset, such as `+03:00`.',
    version: 'Version of the library.',
    links: 'The link of everything that can be read without a name or an id, by the last word of the link.',
  },
  Plan: {
    '': 'What a command would do now: the result of `admin.plan`, and the body of the response to `?dry_run=true`. Over HTTP, a refused dry run gets the error response of the command itself, so the body is never a `refused` plan.',
    outcome: 'Whether anything would change.',
    patch:
      'The JSON Patch operations on the settings, with secrets redacted; left out if no settings would change.',
    events:
      'The events that would happen, with secrets redacted. A list of sessions or connections has the first 100 and their number as `count`. A teardown of many parts is shown as one event.',
    effects: 'The effects that the host would be asked for, with secrets redacted; lists as in `events`.',
    etag: 'The entity tag that the resource would get. Left out if the representation has no entity tag, for a teardown of more than 1,000 sessions or connections, or if `admin.plan` is called without `ifMatch` and therefore does not know the resource.',
    closes: 'The sessions and connections that would close.',
    'closes.sessions': 'Number of sessions.',
    'closes.connections': 'Number of backend connections, including the connections of the closed sessions.',
    stays: 'The sessions that would continue without their service, or without some of their connections.',
    'stays.sessions':
      'Number of sessions: the open sessions of a stopped service, and the sessions that lose connections to a server. A session that would close does not count. 0 for a command that stops no service and closes no connections of a server.',
  },
  Problem: {
    '': 'Why a request, a document or a report was refused, as RFC 9457 problem details.',
    type: 'URI of the kind of problem: a name, no address. Its last word is the code, whose section is in docs/errors.md.',
    title: 'Short text for the kind of problem; the same for every occurrence.',
    status: 'HTTP status code.',
    detail:
      'The cause this time, the place, and the next step. Never contains a secret, the body or a stack.',
    code: 'Stable slug for programs; see `ProblemCode` and `HostProblemCode`.',
    errors:
      'The single faults, at most `maxListedFaults` of them. Left out when the problem has no single places.',
    'errors.*.pointer':
      "JSON Pointer (RFC 6901) to the faulty place in the JSON that was sent; `''` is the whole of the JSON.",
    'errors.*.operation':
      'Zero-based index of the faulty patch operation. Left out when no single operation is at fault.',
    'errors.*.code': 'The kind of fault.',
    'errors.*.detail':
      'For people: the fault, and how to correct it. Completes a sentence that starts with the place.',
    command:
      'Id of the command in flight, for `command-in-progress`, `command-not-abandonable` and `outcome-unknown`.',
  },
  Fault: {
    '': 'One fault in a request, a document or a report.',
    pointer:
      "JSON Pointer (RFC 6901) to the faulty place in the JSON that was sent; `''` is the whole of the JSON.",
    operation:
      'Zero-based index of the faulty patch operation. Left out when no single operation is at fault.',
    code: 'The kind of fault.',
    detail: 'For people: the fault, and how to correct it. Completes a sentence that starts with the place.',
  },
};

/** The description of each tag. @internal */
export const tagDescriptions: Readonly<Record<string, string>> = {
  services: 'A service combines listeners, filters, a router and a set of backend servers.',
  servers: 'The backend database servers.',
  monitors: 'Components that probe servers and find their status.',
  gateway: 'File locations, version, threads, tasks and loaded modules.',
  sessions: 'Client connections with their backend connections.',
  filters: 'Modules that the requests of a service pass through.',
  users: 'The users who may query and change the gateway through this interface.',
  commands:
    'The commands in flight, and the event of a command that had an unknown outcome and then turned out to have failed.',
  fleet: 'The nodes that share one configuration.',
  events: 'What happens in the gateway, as a stream.',
  interface: 'What there is to read, the version of the library, the health, and the read-only mode.',
};
