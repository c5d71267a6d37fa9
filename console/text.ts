/**
 * Every text of the page, in English.
 */

function counted(count: number, word: string): string {
  return `${count.toLocaleString('en')} ${word}${count === 1 ? '' : 's'}`;
}

function closing(sessions: number, connections: number): string {
  const parts = [
    ...(sessions === 0 ? [] : [counted(sessions, 'session')]),
    ...(connections === 0 ? [] : [counted(connections, 'backend connection')]),
  ];
  return parts.join(' and ');
}

/** One of a collection. */
function one(collection: string): string {
  return collection.replace(/s$/, '');
}

/** What each act does, by its endpoint. The page loads these texts later. */
export const acts = {
  'services.patch': 'These fields change, and nothing else.',
  'services.start': 'Listeners open, and new sessions are taken.',
  'services.stop': 'Listeners close: new clients are refused. Open sessions continue.',
  'services.drain':
    'Listeners close: new clients are refused. What is left is counted, and a deadline can end the drain.',
  'services.resume': 'The drain ends, and all is as it was before.',
  'services.closeSessions': 'The clients are cut off now. They may connect again.',
  'services.delete': 'Gone from the configuration. Undo brings back what was there.',
  'services.create': 'Clients reach a service by its listeners, which you add then.',
  'services.createListener': 'The service listens at one more address.',
  'services.deleteListener': 'New clients are refused there. Open sessions continue.',
  'servers.patch': 'These fields change, and nothing else.',
  'servers.setMaintenance':
    'No new sessions are taken until maintenance is cleared. To wait until nothing is left, drain instead.',
  'servers.clearMaintenance': 'New sessions are taken again.',
  'servers.drain': 'No new sessions are taken. What is left is counted, and a deadline can end the drain.',
  'servers.resume': 'The drain ends, and new sessions are taken again.',
  'servers.closeConnections': 'The connections are cut off now. Services may open new ones.',
  'servers.delete': 'Gone from the configuration. Undo brings back what was there.',
  'servers.create':
    'The server is used once a service lists it, and its state is known once a monitor lists it.',
  'monitors.create': 'It looks at the servers that it lists.',
  'monitors.delete': 'Gone from the configuration. Undo brings back what was there.',
  'monitors.patch': 'These fields change, and nothing else.',
  'monitors.start': 'Somebody looks at the servers again.',
  'monitors.stop': 'Nobody looks at the servers then, and they are shown as they were.',
  'filters.delete': 'Gone from the configuration. Undo brings back what was there.',
  'filters.patch': 'These fields change, and nothing else.',
  'filters.create': 'The filter is used once a service lists it.',
  'sessions.close': 'The clients are cut off now. They may connect again.',
  'sessions.closeMany': 'The clients are cut off now. They may connect again.',
  'users.create': 'Users log in to this interface. From the first one on, everybody must log in.',
  'users.patch': 'Pages with this log-in must log in again.',
  'users.delete': 'Pages with this log-in are logged out.',
  'document.adopt': 'The gateway becomes as the document says, as a whole or not at all.',
  'interface.patch': 'A read-only gateway refuses every change. Sessions and drains go on.',
  'gateway.flushLogs': 'Pending messages are written, and the log files are opened anew.',
  'commands.abandon': 'Its outcome stays unknown, and others may change what it holds.',
  'history.undo': 'This change alone is taken back.',
  'history.restore': 'Everything is as it was right after that change: later changes are taken back.',
  'fleet.retry': 'The gateway of this node is asked again at once.',
  'fleet.forget': 'For a node that will not come back.',
} as const;

/** How the value of a field is typed, by the type of the field. The page loads these texts later. */
export const formats = {
  words: 'With commas between.',
  map: 'A line for each: name = value.',
  secret: 'Write-only. Empty: stays as it is.',
} as const;

export const text = {
  views: { gateway: 'Gateway', sessions: 'Sessions', history: 'History' },
  lists: {
    services: 'Services',
    servers: 'Servers',
    monitors: 'Monitors',
    filters: 'Filters',
    users: 'Users of this interface',
    fleet: 'Nodes',
    listeners: 'Listeners',
    alerts: 'Alerts',
    commands: 'In flight',
  },
  columns: {
    name: 'Name',
    state: 'State',
    since: 'Since',
    up: 'Up',
    weight: 'Weight',
    every: 'Every',
    sessions: 'Sessions',
    servers: 'Servers',
    server: 'Server',
    address: 'Address',
    protocol: 'Protocol',
    role: 'Role',
    drain: 'Drain',
    module: 'Module',
    router: 'Router',
    services: 'Services',
    node: 'Node',
    seen: 'Seen',
    user: 'User',
    service: 'Service',
    connected: 'Connected',
    idle: 'Idle',
    id: 'Id',
    choose: 'Choose',
    acts: 'Actions',
  },
  verbs: {
    drain: 'Drain',
    changeDrain: 'Change the drain of',
    resume: 'Resume',
    delete: 'Delete',
    detach: 'Take out of all lists and delete',
    setMaintenance: 'Set maintenance on',
    clearMaintenance: 'Clear maintenance on',
    abandon: 'Abandon',
    forget: 'Forget',
    undo: 'Undo',
    restore: 'Restore the state after this',
  },
  drain: {
    timeout: 'Deadline in minutes',
    timeoutHint: 'Empty: no deadline.',
    then: 'At the deadline',
    thenClose: 'Close what is left',
    thenResume: 'Resume',
    reason: 'Reason',
    left: (sessions: number, connections: number) =>
      sessions + connections === 0 ? 'nothing left' : `${closing(sessions, connections)} left`,
    until: (time: string, then: string) => `until ${time}, then ${then}`,
    seen: (most: number) => `of ${most.toLocaleString('en')} since you opened this.`,
    noDeadline: 'No deadline.',
    at: (time: string, ahead: string, then: string) =>
      `At ${time}, in ${ahead}, ${then === 'close' ? 'what is left is closed' : 'the drain ends'}.`,
    endNow: 'End now',
  },
  plan: {
    planning: (since: string) => `Planning … ${since}`,
    silent: 'The gateway has not answered. Nothing was done.',
    another: 'It is not what you saw any more: it has changed, or another one has its id. Look at it again.',
    required: (labels: string) => `Fill in: ${labels}.`,
    closes: (sessions: number, connections: number) =>
      sessions + connections === 0 ? 'nothing' : closing(sessions, connections),
    stays: (sessions: number) =>
      `${counted(sessions, 'session')} ${sessions === 1 ? 'continues' : 'continue'}.`,
    listed: (op: string, name: string) => `${{ add: 'added', remove: 'removed' }[op] ?? 'moved'} ${name}`,
    until: (time?: string, then = 'close') =>
      time === undefined
        ? 'no deadline'
        : `until ${time}, then ${then === 'close' ? 'closes what is left' : 'resumes'}`,
    becomes: (before: string, after: string) => `${before} → ${after}`,
    sets: (path: string, value: string) => `${path}: ${value}`,
    nothing: 'nothing',
    secret: 'changed, and not shown',
    unchanged: 'This changes nothing.',
    parts: {
      closes: 'Closes',
      stays: 'Stays',
      notes: 'Also',
      changes: 'Changes',
      asks: 'The gateway is asked for',
    },
    others: 'Others are changing this now:',
    changed: 'This has changed since you looked:',
    was: 'was',
    is: 'now',
    type: (name: string) => `Type “${name}” to go on`,
    anyway: 'Nothing was done.',
    refused: 'This is not possible now.',
    again: 'Try again',
    working: (since: string) => `No answer yet, for ${since}.`,
    leave: 'Leave; the gateway goes on',
    cancel: 'Cancel',
  },
  button: {
    closeSessions: (sessions: number, service: string | undefined) =>
      `Close ${counted(sessions, 'session')}${service === undefined ? '' : ` of ${service}`}`,
    closeConnections: (connections: number, server: string) =>
      `Close ${counted(connections, 'connection')} to ${server}`,
    andCloses: (title: string, sessions: number, connections: number) =>
      `${title} and close ${closing(sessions, connections)}`,
  },
  closeSession: (id: string, user: string) => `Close session ${id} of ${user}`,
  hold: (gateway: string) => `Make ${gateway} read-only`,
  release: (gateway: string) => `Allow changes of ${gateway} again`,
  flushLogs: 'Flush the logs',
  retryBehind: 'Retry what this node is behind',
  one,
  add: (collection: string, service?: string) =>
    service === undefined ? `Add a ${one(collection)}` : `Add a listener to ${service}`,
  in: { services: 'In the services', monitors: 'In the monitors' },
  addLike: (collection: string, name: string) => `Add a ${one(collection)} like ${name}`,
  document: {
    compare: 'Compare with a document',
    apply: 'Apply the document',
    label: 'Document',
    hint: 'In JSON, as the command line exports it. The plan says what differs; what it leaves out stays.',
    extent: 'Compare',
    extents: [
      ['', 'everything'],
      ['services,monitors,filters', 'services, monitors and filters'],
      ['servers,listeners', 'where servers and listeners are'],
    ] as const,
  },
  addNamed: (collection: string, name: string, service?: string) =>
    service === undefined ? `Add ${one(collection)} ${name}` : `Add listener ${name} to ${service}`,
  deleteListener: (listener: string, service: string) => `Delete listener ${listener} of ${service}`,
  user: (name: string) => `user ${name}`,
  connections: (count: number) => `${counted(count, 'connection')}.`,
  showSessions: 'Show their sessions',
  changePassword: (name: string) => `Change the password of ${name}`,
  closeSessionsOf: (service: string) => `Close the sessions of ${service}`,
  closeConnectionsOf: (server: string) => `Close the connections to ${server}`,
  closeSessionsThat: (words: string) => `Close the sessions ${words}`,
  closeAllSessions: 'Close all sessions of the gateway',
  allSessions: 'all sessions',
  /** Resources in a sentence: their names, or how many they are. */
  several: (collection: string, names: readonly string[]) =>
    names.length > 5 ? counted(names.length, one(collection)) : names.join(', '),
  eachOf: (collection: string, count: number) => counted(count, one(collection)),
  changeAll: 'Change all',
  tooMany: (most: number) => `At most ${most.toLocaleString('en')} at once. Find fewer of them first.`,
  changeEach: (what: string) => `Change the settings of ${what}`,
  differs: 'Not the same everywhere. Empty: stays as it is.',
  closeChosen: (count: number) => `Close ${counted(count, 'chosen session')}`,
  chosenSessions: (count: number) => counted(count, 'chosen session'),
  change: (name: string) => `Change ${name}`,
  undo: (what: string) => `Undo “${what}”`,
  restore: (when: string) => `Restore the configuration of ${when}`,
  done: {
    closed: (sessions: number, connections: number) =>
      `Closed ${sessions + connections === 0 ? 'nothing' : closing(sessions, connections)}.`,
    title: (title: string, took: string) => `Done in ${took}: ${title}.`,
    unchanged: (title: string) => `Nothing to do: ${title}.`,
    failed: (title: string) => `Not done: ${title}.`,
    unknown: (title: string) => `Unknown: ${title}. See the history.`,
    dismiss: 'Dismiss',
  },
  connection: {
    opening: (since: string) => `Connecting … ${since}`,
    connecting: (since: string) => `connecting for ${since}`,
    open: 'live',
    good: 'What is shown is true now.',
    bad: 'What is shown may be old.',
    lost: 'Nothing new comes from the gateway. What is shown may be wrong by now.',
    silent: (since: string) => `no answer for ${since}`,
    waiting: (since: string) => `reconnecting for ${since}`,
    offline: 'the browser is offline',
    failed: (since: string, detail: string) => `no answer for ${since}: ${detail}`,
    gap: (ago: string) => `events were missed ${ago} ago`,
    restart: (ago: string) => `the gateway was restarted ${ago} ago`,
  },
  top: {
    noAlerts: 'No alerts.',
    wrong: (count: number) =>
      `${counted(count, 'thing')} ${count === 1 ? 'is' : 'are'} wrong: see what is red.`,
    alerts: (count: number) => counted(count, 'alert'),
    faults: (count: number) => counted(count, 'fault'),
    warnings: (count: number) => counted(count, 'warning'),
    showAll: (count: number) => `Show all ${String(count)}`,
    fewer: 'Show fewer',
    inFlight: (count: number) => `${counted(count, 'command')} in flight`,
    forBy: (since: string, actor?: string) => `for ${since}${actor === undefined ? '' : `, by ${actor}`}`,
    unknown: 'outcome unknown',
    progress: (done: number, of: number) => `${done.toLocaleString('en')} of ${of.toLocaleString('en')}`,
    readOnly: (since: string, by = '', reason = '') =>
      `Read-only: every change is refused. Since ${since}${by && ` by ${by}`}${reason && `: ${reason}`}`,
    zone: 'Time zone of all times',
    zoneOf: (zone: string, owner: string) => `${zone}, of the ${owner}`,
    anonymous: 'no log-in',
    logOut: 'Log out',
  },
  find: {
    label: 'Find',
    hint: 'Find (press /)',
    none: 'None.',
    noneOf: (read: number, total: number) =>
      `None of the first ${read.toLocaleString('en')}. There are ${total.toLocaleString('en')}.`,
    shown: (shown: number, total: number) => `${shown.toLocaleString('en')} of ${total.toLocaleString('en')}`,
  },
  scope: {
    all: (nodes: number) => (nodes === 1 ? 'on the one node' : `on all ${String(nodes)} nodes`),
    one: (node: string) => `at node ${node}`,
    fleet: 'in the fleet',
    counted: (node: string) => ` at node ${node}`,
    silent: (nodes: readonly string[]) =>
      nodes.length === 1
        ? `Node ${nodes.join()} is silent, and follows when it is back.`
        : `Nodes ${nodes.join(', ')} are silent, and follow when they are back.`,
    stay: (parts: readonly string[]) => `${parts.join(', ')} stay.`,
    unknown: (nodes: readonly string[]) =>
      `What is open at ${nodes.join(', ')} stays: to close it, use the page of ${nodes.length === 1 ? 'that node' : 'those nodes'}, or drain.`,
    drain: (sum: string, parts: readonly string[], silent: readonly string[]) =>
      `${[sum, parts.join(', ')].filter(Boolean).join(': ')}${silent.length === 0 ? '' : `; not known at ${silent.join(', ')}`}`,
  },
  keys: {
    title: 'Keys',
    close: 'Close',
    all: {
      '/': 'find anything; in the sessions, the criteria',
      Enter: 'open what was found, or the row of a box',
      'g g': 'the gateway',
      'g s': 'the sessions',
      'g h': 'the history',
      '↑ ↓': 'the row above, the row below',
      Space: 'choose the row of a box, or not',
      Shift: 'with a press on a second box: all rows between',
      Esc: 'out of a menu, a dialog or the drawer',
      '?': 'these keys',
    },
  },
  copy: { copy: 'Copy', copied: 'Copied', link: 'Copy link', byHand: 'Copy this' },
  old: (age: string) => `(${age} old)`,
  services: (count: number) => counted(count, 'service'),
  up: 'up',
  sortBy: (column: string) => `Sort by ${column}`,
  newVersion: 'A new version of this page is there. Load the page again.',
  ago: (age: string) => `${age} ago`,
  ofThisNode: 'Sessions of this node.',
  logIn: {
    title: 'Log in',
    name: 'Name',
    password: 'Password',
    elsewhere: 'Log in to see the gateway.',
    link: 'To the log-in page',
    refused: 'Wrong name or password.',
    over: 'Your log-in has ended.',
  },
  chosen: {
    none: 'Choose none',
    of: (chosen: number, all: number) =>
      `${chosen.toLocaleString('en')} of ${all.toLocaleString('en')} ${chosen === 1 ? 'is' : 'are'} chosen`,
    all: (most: number, all: number) =>
      `Choose ${most < all ? 'the first' : 'all'} ${most.toLocaleString('en')}`,
    range: 'Shift chooses a range.',
  },
  sessions: {
    all: 'All sessions',
    criteria: {
      service: 'Service',
      server: 'Server',
      user: 'User',
      address: 'Address',
      idle_over: 'Idle longer than',
      older_than: 'Connected longer than',
    },
    any: 'any',
    suchAs: { idle_over: 'such as 10 min', older_than: 'such as 1 h' },
    close: 'Close',
    named: (id: string, user: string) => `session ${id} of ${user}`,
    ofAll: (all: number) => `of ${all.toLocaleString('en')}`,
    total: (total: number) => counted(total, 'session'),
    by: { user: 'By user', address: 'By address' },
    sessionsBy: (criterion: string) => `Sessions by ${criterion}`,
    ofFirst: (read: number, of: number) =>
      `Of the first ${read.toLocaleString('en')} of ${of.toLocaleString('en')}.`,
    others: (count: number, criterion: string) =>
      `${count.toLocaleString('en')} more ${criterion}${criterion.endsWith('s') ? 'es' : 's'}`,
  },
  drawer: {
    close: 'Close the drawer',
    probe: ['A probe asks ', ': 204 while the gateway is ready, 503 while it is not.'] as const,
    why: 'Last change',
    gone: 'Gone.',
    plan: 'Show what this changes',
    reset: 'Drop',
    changedMeanwhile: 'The settings have changed since you began.',
    take: 'Discard my edits',
    nothing: 'No settings.',
    loading: 'Reading …',
    /** The kinds with settings. */
    settings: { services: true, servers: true, monitors: true, filters: true },
    settingsTitle: 'Settings',
    historyOf: (name: string) => `History of ${name}`,
    all: 'All',
    fields: 'All fields',
    more: 'More',
    moreOf: (name: string) => `acts on ${name}`,
    noListeners: 'No listeners: no client reaches the service.',
    by: { servers: 'Sessions by server', services: 'Sessions by service' },
    share: 'Share',
    on: 'Connections',
    onNone: 'On no server now.',
    since: (age: string) => `for ${age}`,
    by_: (name: string) => `by ${name}`,
    was: (value: string) => `was ${value}`,
    edits: (count: number) => counted(count, 'edit'),
  },
  history: {
    back: (shown: number, total: number, to: string) =>
      `${shown.toLocaleString('en')} of ${total.toLocaleString('en')} are shown, back to ${to}.`,
    more: (count: number) => `Show ${count.toLocaleString('en')} more`,
    undo: { refused: 'changed later', irreversible: 'cannot be undone' },
    undone: 'undone at',
    undoneLater: 'undone later',
    undid: (what = 'an earlier change', when?: string) =>
      `Undid ${when === undefined ? what : `“${what}” of ${when}`}:`,
    several: (count: number) => `${String(count)} changes`,
    moreOf: 'More about',
    restoreWarning: 'Everything that was changed since then is taken back too. The plan says what that is.',
    often: 'Often looked for',
    byMe: 'By me',
    closings: 'Closed sessions',
    clear: 'Clear',
    anything: 'anything',
    columns: { time: 'Time', who: 'Who', what: 'What', changed: 'Changed' },
    criteria: { actor: 'Who', type: 'What', resource: 'Of', since: 'From', before: 'To' },
    kinds: {
      service: 'services',
      listener: 'listeners',
      server: 'servers',
      monitor: 'monitors',
      filter: 'filters',
      sessions: 'closed sessions',
      connections: 'closed connections',
      user: 'users',
      logs: 'flushed logs',
      interface: 'the interface',
    },
  },
  events: { title: 'Latest', none: 'Nothing has happened since you opened this page.' },
  /** How a thing is, in the chips and in the rows; the worst first, as the chips stand. */
  state: {
    failed: 'failed',
    dark: 'serves nobody',
    down: 'down',
    silent: 'silent',
    half: 'half up',
    full: 'nearly full',
    draining: 'draining',
    maintenance: 'in maintenance',
    behind: 'behind',
    started: 'started',
    running: 'running',
    alive: 'alive',
    stopped: 'stopped',
    none: '',
  },
  /** The servers that take no new sessions. */
  lost: (names: readonly string[], state: string) =>
    names.length > 3
      ? `${String(names.length)} servers are ${state}`
      : `${names.join(', ')} ${names.length === 1 ? 'is' : 'are'} ${state}`,
  notUp: 'not up',
  chips: {
    of: (list: string) => `States of ${list.toLowerCase()}`,
    wrong: (count: number) => `What is wrong ${count.toLocaleString('en')}`,
    state: (count: number, state: string) =>
      `${count.toLocaleString('en')} ${count === 1 ? state : state.replace(/^serves/, 'serve')}`,
    shown: (shown: number, total: number, list: string) =>
      `${shown.toLocaleString('en')} of ${total.toLocaleString('en')} ${list} are shown.`,
    all: 'Show all',
  },
  /** The first step, where a list is empty. */
  empty: {
    services: 'No services. Add one, so that clients can connect.',
    servers: 'No servers. Add one, so that services can use it.',
    monitors: 'No monitors. Add one, so that servers are watched.',
    filters: 'No filters. Add one if a service needs it.',
    users: 'No users, so nobody has to log in. Add one, and everybody must.',
  } as Readonly<Record<string, string>>,
  behind: (count: number) => `behind with ${counted(count, 'resource')}`,
  limit: (limit: number) => (limit === 0 ? '' : ` of ${limit.toLocaleString('en')}`),
} as const;
