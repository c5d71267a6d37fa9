/**
 * The gateway instance: file locations, version, threads, tasks and loaded modules.
 *
 * Implements the chapters "Instance", "Thread information", "Task" and "Module" of the Gateway Administration REST
 * Interface. A representation leaves out the fields that the gateway document leaves out.
 */
import * as z from 'zod/mini';

import { initialVersion, type Version } from '../core/version.ts';
import { endpoint } from '../http/endpoint.ts';
import { ok } from '../problem.ts';
import * as shape from '../core/shape.ts';
import { itemRoute, listingOf, listRoute } from './shared/route.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { defineFields, loadFields, saveFields, representFields } from '../core/field.ts';
import type { GatewayDocument } from '../snapshot/document.ts';
import type { Kind } from './shared/kind.ts';

/**
 * The gateway instance in a snapshot.
 *
 * @public
 */
export interface Instance {
  /** The last change. */
  readonly version: Version;
  /** Start time, in milliseconds since 1970-01-01T00:00:00Z. */
  readonly started?: number;
  /** The other fields, with their names in a response. */
  readonly attributes: Omit<InstanceRepresentation, 'started'>;
}

/**
 * The gateway instance in a response.
 *
 * @see Gateway Administration REST Interface, "Instance (global information)".
 *
 * @public
 */
export interface InstanceRepresentation {
  /** Path of the configuration file. */
  readonly config?: string;
  /** Path of the cache directory. */
  readonly cachedir?: string;
  /** Path of the data directory. */
  readonly datadir?: string;
  /** Path of the directory of libraries. */
  readonly libdir?: string;
  /** Path of the directory of the process id file. */
  readonly piddir?: string;
  /** Path of the directory of executables. */
  readonly execdir?: string;
  /** Path of the directory of language files. */
  readonly languagedir?: string;
  /** Operating system user of the instance. */
  readonly user?: string;
  /** Number of threads. */
  readonly threads?: number;
  /** Version of the instance. */
  readonly version?: string;
  /** Identifier of the source commit: a hexadecimal string. */
  readonly commit?: string;
  /** Start time, such as `Wed, 31 Aug 2016 23:29:26 +0300`. */
  readonly started?: string;
}

/**
 * The threads and their load, in a snapshot and in a response.
 *
 * @see Gateway Administration REST Interface, "Thread information".
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
  /** Number of the thread. */
  readonly id: number;
  /** State of the thread, such as `processing` or `polling`. */
  readonly state: string;
  /** Number of file descriptors that the thread serves. */
  readonly file_descriptors: number;
  /** The events that the thread handles, such as `in` and `out`; empty for an idle thread. */
  readonly event: readonly string[];
  /** Run time; a plain number. */
  readonly run_time: number;
}

/**
 * A task queued for execution, in a snapshot.
 *
 * @see Gateway Administration REST Interface, "Task".
 *
 * @public
 */
export interface Task {
  /** Name of the task. */
  readonly name: string;
  /** Type of the task, such as `repeated`. */
  readonly type: string;
  /** Frequency of the task; a plain number. */
  readonly frequency: number;
  /** Time of the next run, in milliseconds since 1970-01-01T00:00:00Z. */
  readonly next_due: number;
}

/**
 * A task in a response.
 *
 * @public
 */
export interface TaskRepresentation extends Omit<Task, 'next_due'> {
  /** Time of the next run, such as `Fri Sep  9 14:12:37 2016`. */
  readonly next_due: string;
}

/**
 * A task in a gateway document: `next_due` is an ISO 8601 instant with an offset.
 *
 * @internal
 */
export interface TaskDocument extends Omit<Task, 'next_due'> {
  /** Time of the next run. */
  readonly next_due: string;
}

/**
 * A loaded module.
 *
 * @see Gateway Administration REST Interface, "Module".
 *
 * @public
 */
export interface Module {
  /** Name of the module. */
  readonly name: string;
  /** Type of the module, such as `Protocol`, `Filter` or `Router`. */
  readonly type: string;
  /** Version of the module. */
  readonly version: string;
  /** Version of the module interface that the module implements. */
  readonly api_version: string;
  /** Maturity of the module, such as `GA`. */
  readonly maturity: string;
}

const path = { shape: shape.text(4096), optional: true } as const;

const fields = defineFields<{
  representation: InstanceRepresentation;
  document: InstanceRepresentation;
  state: Omit<Instance, 'version' | 'attributes'> & Instance['attributes'];
}>()({
  config: path,
  cachedir: path,
  datadir: path,
  libdir: path,
  piddir: path,
  execdir: path,
  languagedir: path,
  user: { shape: shape.text(255), optional: true },
  threads: { shape: z.int().check(z.minimum(0)), optional: true },
  version: { shape: shape.text(255), optional: true },
  commit: { shape: shape.text(255), optional: true },
  started: { shape: shape.instant, time: 'rfc5322', optional: true },
});

const threadsFields = defineFields<{
  representation: Threads;
  document: Threads;
  state: Threads;
}>()({
  load_average: {
    shape: z.strictObject({
      historic: shape.number,
      current: shape.number,
      '1min': shape.number,
      '5min': shape.number,
      '15min': shape.number,
    }),
  },
  threads: {
    shape: z.array(
      z.strictObject({
        id: shape.number,
        state: shape.text(255),
        file_descriptors: shape.number,
        event: z.array(shape.text(255)),
        run_time: shape.number,
      }),
    ),
  },
});

const taskFields = defineFields<{
  representation: TaskRepresentation;
  document: TaskDocument;
  state: Task;
}>()({
  name: { shape: shape.text(255) },
  type: { shape: shape.text(255) },
  frequency: { shape: shape.number },
  next_due: { shape: shape.instant, time: 'asctime' },
});

/** The shapes of the figures that telemetry gives for a whole gateway. @internal */
export const telemetryShapes = {
  threads: threadsFields.representation as unknown as z.ZodMiniType<Threads>,
  tasks: z.array(
    z.strictObject({
      name: shape.text(255),
      type: shape.text(255),
      frequency: shape.number,
      next_due: shape.milliseconds,
    }),
  ),
} as const;

const moduleFields = defineFields<{
  representation: Module;
  document: Module;
  state: Module;
}>()({
  name: { shape: shape.text(255) },
  type: { shape: shape.text(255) },
  version: { shape: shape.text(255) },
  api_version: { shape: shape.text(255) },
  maturity: { shape: shape.text(255) },
});

/** The members of a gateway document about the instance. @internal */
export const gatewayDocument = {
  gateway: z.exactOptional(fields.document),
  threads: z.exactOptional(threadsFields.document),
  tasks: z.exactOptional(z.array(taskFields.document)),
  modules: z.exactOptional(z.array(moduleFields.document)),
};

const noThreads: Threads = {
  load_average: { historic: 0, current: 0, '1min': 0, '5min': 0, '15min': 0 },
  threads: [],
};

/** Loads the instance from a valid gateway document. @internal */
export function loadGateway({
  gateway = {},
  threads = noThreads,
  tasks = [],
  modules = [],
}: Pick<GatewayDocument, 'gateway' | 'threads' | 'tasks' | 'modules'>): Pick<
  Snapshot,
  'gateway' | 'threads' | 'tasks' | 'modules'
> {
  const { started, ...attributes } = loadFields(fields, gateway).rest as Instance['attributes'] & {
    started?: number;
  };
  return {
    gateway: { version: initialVersion, ...(started === undefined ? {} : { started }), attributes },
    threads,
    tasks: tasks.map((task) => loadFields(taskFields, task).rest as unknown as Task),
    modules,
  };
}

/** Saves the instance for a gateway document. @internal */
export function saveGateway({ gateway, threads, tasks, modules }: Snapshot): object {
  return {
    gateway: saveFields(fields, { ...gateway.attributes, started: gateway.started }),
    threads,
    tasks: tasks.map((task) => saveFields(taskFields, task)),
    modules,
  };
}

/** The kind "instance". @internal */
export const gatewayKind: Kind<never, never, never> = {
  fields: { instance: fields, 'thread information': threadsFields, task: taskFields, module: moduleFields },
  events: {},
  effects: {},
  reports: {},
  routes: [
    itemRoute({
      ...endpoint('gateway.get'),
      role: 'reader',
      summary: 'Gives the gateway instance.',
      shape: fields.representation,
      find: ({ gateway }) => ok(gateway),
      version: (_snapshot, { version }) => version,
      read: (_snapshot, { attributes, started }, { times }) =>
        representFields(fields, { rest: { ...attributes, started }, times }),
    }),
    itemRoute({
      ...endpoint('gateway.threads'),
      role: 'reader',
      summary: 'Gives the threads and their load.',
      shape: threadsFields.representation,
      find: ({ threads }) => ok(threads),
      read: (_snapshot, threads, { telemetry }) => telemetry?.threads() ?? threads,
    }),
    listRoute({
      ...endpoint('gateway.tasks'),
      role: 'reader',
      query: ['fields'],
      summary: 'Lists the queued tasks.',
      shape: taskFields.representation,
      find: ({ tasks }) => ok(tasks),
      list: (_snapshot, tasks, { times, telemetry }) =>
        listingOf(telemetry?.tasks() ?? tasks, (task) => representFields(taskFields, { rest: task, times })),
    }),
    listRoute({
      ...endpoint('gateway.modules'),
      role: 'reader',
      query: ['fields', 'range'],
      summary: 'Lists the loaded modules.',
      shape: moduleFields.representation,
      find: ({ modules }) => ok(modules),
      version: ({ gateway }) => gateway.version,
      list: (_snapshot, modules) => listingOf(modules, (module) => module),
    }),
  ],
};
