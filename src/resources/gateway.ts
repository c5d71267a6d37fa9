/**
 * The gateway instance: file locations, version, threads, tasks and loaded modules.
 *
 * Implements the chapters "Instance" and "Module" of the Gateway Administration REST Interface, and the endpoints of
 * `telemetry.ts`. A representation leaves out the fields that the gateway document leaves out.
 */
import * as z from 'zod/mini';

import { contentOf } from '../core/content.ts';
import { endpoint } from '../http/endpoint.ts';
import { ok } from '../problem.ts';
import * as shape from '../core/shape.ts';
import { itemRoute, listingOf, listRoute } from './shared/route.ts';
import type { Snapshot } from './snapshot.ts';
import { defineFields, loadFields, saveFields, representFields } from '../core/field.ts';
import type { Kind } from './shared/kind.ts';
import { taskFields, threadsFields, type Task, type TaskDocument, type Threads } from './telemetry.ts';

/**
 * The gateway instance in a snapshot.
 *
 * @public
 */
export interface Instance {
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
  state: Omit<Instance, 'attributes'> & Instance['attributes'];
}>()({
  config: path,
  cachedir: path,
  datadir: path,
  libdir: path,
  piddir: path,
  execdir: path,
  languagedir: path,
  user: { shape: shape.text(255), optional: true },
  threads: { shape: shape.count, optional: true },
  version: { shape: shape.text(255), optional: true },
  commit: { shape: shape.text(255), optional: true },
  started: { shape: shape.instant, time: 'rfc5322', optional: true },
});

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

const document = {
  gateway: z.exactOptional(fields.document),
  threads: z.exactOptional(threadsFields.document),
  tasks: z.exactOptional(z.array(taskFields.document)),
  modules: z.exactOptional(z.array(moduleFields.document)),
};

const noThreads: Threads = {
  load_average: { historic: 0, current: 0, '1min': 0, '5min': 0, '15min': 0 },
  threads: [],
};

/** The members of a gateway document about the instance. */
interface GatewayMembers {
  readonly gateway?: InstanceRepresentation;
  readonly threads?: Threads;
  readonly tasks?: readonly TaskDocument[];
  readonly modules?: readonly Module[];
}

function load({
  gateway = {},
  threads = noThreads,
  tasks = [],
  modules = [],
}: GatewayMembers): Pick<Snapshot, 'gateway' | 'threads' | 'tasks' | 'modules'> {
  const { started, ...attributes } = loadFields(fields, gateway).rest as Instance['attributes'] & {
    started?: number;
  };
  return {
    gateway: { ...(started === undefined ? {} : { started }), attributes },
    threads,
    tasks: tasks.map((task) => loadFields(taskFields, task).rest as unknown as Task),
    modules,
  };
}

function save({ gateway, threads, tasks, modules }: Snapshot): object {
  return {
    gateway: saveFields(fields, { ...gateway.attributes, started: gateway.started }),
    threads,
    tasks: tasks.map((task) => saveFields(taskFields, task)),
    modules,
  };
}

/** The kind "instance". @internal */
export const gatewayKind: Kind<Snapshot, never, never, never> = {
  whole: { document, load, save },
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
      find: ({ gateway }: Snapshot) => ok(gateway),
      validator: (_snapshot, { attributes }) => ({ content: contentOf(attributes), revision: 0 }),
      read: (_snapshot, { attributes, started }, { times }) =>
        representFields(fields, { rest: { ...attributes, started }, times }),
    }),
    itemRoute({
      ...endpoint('gateway.threads'),
      role: 'reader',
      summary: 'Gives the threads and their load.',
      shape: threadsFields.representation,
      find: ({ threads }: Snapshot) => ok(threads),
      read: (_snapshot, threads, { telemetry }) => telemetry?.threads() ?? threads,
    }),
    listRoute({
      ...endpoint('gateway.tasks'),
      role: 'reader',
      query: ['fields'],
      summary: 'Lists the queued tasks.',
      shape: taskFields.representation,
      find: ({ tasks }: Snapshot) => ok(tasks),
      list: (_snapshot, tasks, { times, telemetry }) =>
        listingOf(telemetry?.tasks() ?? tasks, (task) => representFields(taskFields, { rest: task, times })),
    }),
    listRoute({
      ...endpoint('gateway.modules'),
      role: 'reader',
      query: ['fields', 'range'],
      summary: 'Lists the loaded modules.',
      shape: moduleFields.representation,
      find: ({ modules }: Snapshot) => ok(modules),
      validator: (_snapshot, modules) => ({ content: contentOf(modules), revision: 0 }),
      list: (_snapshot, modules) => listingOf(modules, (module) => module),
    }),
  ],
};
