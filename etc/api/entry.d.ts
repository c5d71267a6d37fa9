/**
 * Everything that the package exports, for the report `etc/gateway-admin-core.api.md`. Not shipped.
 *
 * @packageDocumentation
 */
// Not `export * as`: the report would leave out that these namespaces are exported.
import * as client from '../../dist/client/index.js';
import * as console from '../../dist/console/index.js';
import * as auditFile from '../../dist/ports/audit-file/audit-file.js';
import * as fetch from '../../dist/adapters/fetch.js';
import * as fileStore from '../../dist/ports/file-store/file-store.js';
import * as fleet from '../../dist/fleet/index.js';
import * as gatewayPort from '../../dist/gateway-port/index.js';
import * as json from '../../dist/json/index.js';
import * as messagePort from '../../dist/adapters/message-port.js';
import * as node from '../../dist/adapters/node.js';
import * as openapi from '../../dist/openapi/index.js';
import * as postgresStore from '../../dist/ports/postgres-store/postgres-store.js';
import * as scrypt from '../../dist/ports/scrypt-hasher.js';
import * as testing from '../../dist/testing/index.js';

export * from '../../dist/index.js';
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
