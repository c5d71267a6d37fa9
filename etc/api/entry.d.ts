/**
 * Everything that the package exports, for the report `etc/gateway-admin-core.api.md`. Not shipped.
 *
 * @packageDocumentation
 */
// Not `export * as`: the report would leave out that these namespaces are exported.
import * as client from '../../dist/types/client/index.js';
import * as console from '../../dist/types/console/index.js';
import * as auditFile from '../../dist/types/ports/audit-file/audit-file.js';
import * as fetch from '../../dist/types/adapters/fetch.js';
import * as fileStore from '../../dist/types/ports/file-store/file-store.js';
import * as fleet from '../../dist/types/fleet/index.js';
import * as gatewayPort from '../../dist/types/gateway-port/index.js';
import * as json from '../../dist/types/json/index.js';
import * as messagePort from '../../dist/types/adapters/message-port.js';
import * as node from '../../dist/types/adapters/node.js';
import * as openapi from '../../dist/types/openapi/index.js';
import * as postgresStore from '../../dist/types/ports/postgres-store/postgres-store.js';
import * as scrypt from '../../dist/types/ports/scrypt-hasher.js';
import * as testing from '../../dist/types/testing/index.js';

export * from '../../dist/types/index.js';
export {
  auditFile,
  client,
  console,
  fetch,
  fileStore,
  fleet,
  gatewayPort,
  json,
  messagePort,
  node,
  openapi,
  postgresStore,
  scrypt,
  testing,
};
