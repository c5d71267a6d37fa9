/**
 * The gateway instance itself: file locations, version, threads, tasks and loaded modules.
 *
 * The chapters "Instance", "Thread information", "Task" and "Module" of the Gateway
 * Administration REST Interface. What a document does not tell is left out of the representation.
 */
import * as z from 'zod/mini';

import { initialVersion, type Version } from '../core/version.ts';
import { ok } from '../problem.ts';
import type { ItemRoute, ListRoute } from '../http/route.ts';
import * as shape from '../core/shape.ts';
import { formatInstant, parseInstant, type TimeFormat } from '../core/time.ts';
import type { Rendering } from './shared/rendering.ts';
import { itemRoute, listing, listRoute } from './shared/route.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';

/**
 * The gateway instance.
 *
 * @public
 */
export interface Instance {
  /** When it last changed. */
  readonly version: Version;
  /** When it was started, in milliseconds since 1970-01-01T00:00:00Z. */
  readonly started?: number;
  /** What else is known of it, in the words of the representation. */
  readonly facts: Omit<InstanceRepresentation, 'started'>;
}

/**
 * The gateway instance as clients see it.
 *
 * @public
 */
export interface InstanceRepresentation {
  /** Path of the configuration file. */
  readonly config?: string;
  /** Path of a directory. */
  readonly cachedir?: string;
  /** Path of a directory. */
  readonly datadir?: string;
  /** Path of a directory. */
  readonly libdir?: string;
  /** Path of a directory. */
  readonly piddir?: string;
  /** Path of a directory. */
  readonly execdir?: string;
  /** Path of a directory. */
  readonly languagedir?: string;
  /** Operating system user that it runs as. */
  readonly user?: string;
  /** Number of threads. */
  readonly threads?: number;
  /** Its version. */
  readonly version?: string;
  /** Identifier of the source commit: a hexadecimal string. */
  readonly commit?: string;
  /** Start time, such as `Wed, 31 Aug 2016 23:29:26 +0300`. */
  readonly started?: string;
}

/**
 * The threads and their load, as the snapshot keeps them and as clients see them.
 *
 * @public
 */
export interface Threads {
  /** Load averages: `historic`, `current`, `1min`, `5min`, `15min`. */
  readonly load_average: Readonly<Record<'historic' | 'current' | '1min' | '5min' | '15min', number>>;
  /** The threads. */
  readonly threads: readonly Thread[];
}

/**
 * One thread.
 *
 * @public
 */
export interface Thread {
  /** Its number. */
  readonly id: number;
  /** What it does, such as `processing` or `polling`. */
  readonly state: string;
  /** Number of file descriptors it serves. */
  readonly file_descriptors: number;
  /** The events it handles, such as `in` and `out`; empty when idle. */
  readonly event: readonly string[];
  /** How long it has run; a plain number. */
  readonly run_time: number;
}

/**
 * A task queued for execution, as the snapshot keeps it.
 *
 * @public
 */
export interface Task {
  /** Name of the task. */
  readonly name: string;
  /** Its type, such as `repeated`. */
  readonly type: string;
  /** How often it runs; a plain number. */
  readonly frequency: number;
  /** When it runs next, in milliseconds since 1970-01-01T00:00:00Z. */
  readonly next_due: number;
}

/**
 * A loaded module.
 *
 * @public
 */
export interface Module {
  /** Name of the module. */
  readonly name: string;
  /** What it is, such as `Protocol`, `Filter` or `Router`. */
  readonly type: string;
  /** Its version. */
  readonly version: string;
  /** Version of the interface it implements. */
  readonly api_version: string;
  /** How mature it is, such as `GA`. */
  readonly maturity: string;
}

const path = z.exactOptional(shape.text(4096));
const facts = {
  config: path,
  cachedir: path,
  datadir: path,
  libdir: path,
  piddir: path,
  execdir: path,
  languagedir: path,
  user: z.exactOptional(shape.text(255)),
  threads: z.exactOptional(z.int().check(z.minimum(0))),
  version: z.exactOptional(shape.text(255)),
  commit: z.exactOptional(shape.text(255)),
};
const instanceShape = z.strictObject({
  ...facts,
  started: z.exactOptional(z.string()),
}) satisfies z.core.$ZodType<InstanceRepresentation>;

const threadsShape = z.strictObject({
  load_average: z.strictObject({
    historic: z.number(),
    current: z.number(),
    '1min': z.number(),
    '5min': z.number(),
    '15min': z.number(),
  }),
  threads: z.array(
    z.strictObject({
      id: z.number(),
      state: shape.text(255),
      file_descriptors: z.number(),
      event: z.array(shape.text(255)),
      run_time: z.number(),
    }),
  ),
}) satisfies z.core.$ZodType<Threads>;

const taskFields = {
  name: shape.text(255),
  type: shape.text(255),
  frequency: z.number(),
  next_due: z.string(),
};
const taskShape = z.strictObject(taskFields);

const moduleShape = z.strictObject({
  name: shape.text(255),
  type: shape.text(255),
  version: shape.text(255),
  api_version: shape.text(255),
  maturity: shape.text(255),
}) satisfies z.core.$ZodType<Module>;

/** How the instance stands in a gateway document. @internal */
export const gatewayDocument = {
  gateway: z.exactOptional(z.strictObject({ ...facts, started: z.exactOptional(shape.instant) })),
  threads: z.exactOptional(threadsShape),
  tasks: z.exactOptional(z.array(z.strictObject({ ...taskFields, next_due: shape.instant }))),
  modules: z.exactOptional(z.array(moduleShape)),
};

type GatewayDocument = z.infer<z.ZodMiniObject<typeof gatewayDocument>>;

const noThreads: Threads = {
  load_average: { historic: 0, current: 0, '1min': 0, '5min': 0, '15min': 0 },
  threads: [],
};

/** Makes the parts of a snapshot that tell of the instance. @internal */
export function loadGateway(
  document: GatewayDocument,
): Pick<Snapshot, 'gateway' | 'threads' | 'tasks' | 'modules'> {
  const { gateway: { started, ...facts } = {}, threads = noThreads, tasks = [], modules = [] } = document;
  const at = started === undefined ? undefined : parseInstant(started);
  return {
    gateway: { version: initialVersion, ...(at === undefined ? {} : { started: at }), facts },
    threads,
    tasks: tasks.map((task) => ({ ...task, next_due: parseInstant(task.next_due) ?? 0 })),
    modules,
  };
}

/** Writes the parts of a document that tell of the instance. @internal */
export function saveGateway({ gateway: { started, facts }, threads, tasks, modules }: Snapshot): object {
  return {
    gateway: started === undefined ? facts : { ...facts, started: formatInstant(started) },
    threads,
    tasks: tasks.map((task) => ({ ...task, next_due: formatInstant(task.next_due) })),
    modules,
  };
}

function toInstance({ gateway: { started, facts } }: Snapshot, times: TimeFormat): InstanceRepresentation {
  return started === undefined ? facts : { ...facts, started: times.rfc5322(started) };
}

/** @internal */
export const gatewayRoutes: readonly (ItemRoute<Snapshot, Rendering> | ListRoute<Snapshot, Rendering>)[] = [
  itemRoute(
    {
      id: 'gateway.get',
      path: '/gateway',
      summary: 'Gives the gateway instance.',
      shape: instanceShape,
      version: (snapshot) => snapshot.gateway.version,
    },
    (snapshot, _subject, { times }) => ok(toInstance(snapshot, times)),
  ),
  itemRoute(
    {
      id: 'gateway.threads',
      path: '/gateway/threads',
      summary: 'Gives the threads and their load.',
      shape: threadsShape,
    },
    (snapshot, _subject, { telemetry }) => ok(telemetry?.threads?.() ?? snapshot.threads),
  ),
  listRoute(
    {
      id: 'gateway.tasks',
      path: '/gateway/tasks',
      query: ['fields'],
      summary: 'Lists the queued tasks.',
      shape: taskShape,
    },
    (snapshot, _subject, { times, telemetry }) => {
      const tasks = telemetry?.tasks?.() ?? snapshot.tasks;
      const written = tasks.map((task) => ({ ...task, next_due: times.asctime(task.next_due) }));
      return ok(listing(written.length, (offset, length) => written.slice(offset, offset + length)));
    },
  ),
  listRoute(
    {
      id: 'gateway.modules',
      path: '/gateway/modules',
      query: ['fields', 'range'],
      summary: 'Lists the loaded modules.',
      shape: moduleShape,
      version: () => initialVersion,
    },
    ({ modules }) => ok(listing(modules.length, (offset, length) => modules.slice(offset, offset + length))),
  ),
];
