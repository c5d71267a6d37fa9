/**
 * Settings of a service: what can be modified, its shape, and what a JSON Patch sees of it.
 */
import * as z from 'zod/mini';

import { definePatchView } from '../core/patch-view.ts';
import * as shape from '../core/shape.ts';

/**
 * What can be modified in a service.
 *
 * @public
 */
export interface ServiceSettings {
  /** Links of the servers used. */
  readonly servers: readonly string[];
  /** Options of the router: text by name. */
  readonly router_options: Readonly<Record<string, string>>;
  /** Links of the filters, in the order in which they are applied. */
  readonly filters: readonly string[];
  /** Name of the service user. */
  readonly user?: string;
  /** Password of the service user, sealed through the `secrets` port. */
  readonly passwordSealed?: string;
  /** Whether the root user may connect. */
  readonly root_user?: boolean;
  /** Version string given to clients that connect. */
  readonly version_string?: string;
  /** Name of the server parameter that weights connections. */
  readonly weightby?: string;
  /** Idle time in seconds after which a client is disconnected; 0 for no limit. */
  readonly connection_timeout?: number;
  /** Number of connections allowed; 0 for no limit. */
  readonly max_connection?: number;
  /** Whether escape characters are stripped from the default database name. */
  readonly strip_db_esc?: boolean;
}

/** @internal */
export const optionalSettings = {
  user: z.exactOptional(shape.text(255)),
  root_user: z.exactOptional(z.boolean()),
  version_string: z.exactOptional(shape.text(255)),
  weightby: z.exactOptional(shape.text(255)),
  connection_timeout: z.exactOptional(shape.unlimited),
  max_connection: z.exactOptional(shape.unlimited),
  strip_db_esc: z.exactOptional(z.boolean()),
};

/** @internal */
export const settings = {
  servers: shape.links,
  router_options: shape.options,
  filters: shape.links,
  passwordSealed: z.exactOptional(shape.text(8192)),
  ...optionalSettings,
};

/** The settings with the secret under the name of its field. */
const { passwordSealed: password, ...open } = settings;
const patchable = { ...open, password };

/** What a JSON Patch sees of a service. @internal */
export const servicePatchView = definePatchView<ServiceSettings>({
  fields: {
    servers: { links: 'servers' },
    router_options: {},
    filters: { links: 'filters', empty: [] },
    user: {},
    password: { sealedAs: 'passwordSealed' },
    root_user: {},
    version_string: {},
    weightby: {},
    connection_timeout: {},
    max_connection: {},
    strip_db_esc: {},
  },
  readOnly: ['name', 'router', 'state', 'total_connections', 'current_connections', 'started'],
  shape: z.strictObject(patchable),
});
