/**
 * The administration interface of a database gateway, as a library.
 *
 * The exports are grouped by task.
 *
 * @packageDocumentation
 */

// Create, read and save snapshots.
export {
  InvalidDocumentError,
  createSnapshot,
  toDocument,
  type GatewayDocument,
} from './resources/document.ts';
export { loadSnapshot } from './runtime/read/load-snapshot.ts';
export type { Snapshot } from './resources/snapshot.ts';
export type { SessionTable, Connection, Session } from './snapshot/session/table.ts';
export type { Collection, Entity } from './core/collection.ts';
export { nameKey } from './core/name.ts';
export { linkTo } from './core/link.ts';
export { resolveLink } from './resources/resolve-link.ts';

// Decide changes: the transitions, one file for each kind of resource.
export {
  startService,
  stopService,
  patchService,
  type ServiceSettings,
  type Service,
} from './resources/service.ts';
export type { Listener } from './resources/listener.ts';
export {
  serverStatusWords,
  patchServer,
  type ServerStatusWord,
  type ServerSettings,
  type Server,
} from './resources/server.ts';
export {
  startMonitor,
  stopMonitor,
  patchMonitor,
  type MonitorSettings,
  type Monitor,
} from './resources/monitor.ts';
export { createListener, deleteListener } from './resources/listening.ts';
export { createResource, deleteResource } from './resources/membership.ts';
export { drain, resume } from './resources/drain.ts';
export type { Drain } from './resources/shared/drain-setting.ts';
export { lifecycle, type LifecycleState } from './resources/shared/lifecycle.ts';
export type { Module } from './resources/gateway.ts';
export { flushLogs } from './resources/log.ts';
export { closeSession, closeSessions, closeServiceSessions } from './resources/session.ts';
export { closeServerConnections } from './resources/connection.ts';
export { patchFilter, type FilterSettings, type Filter } from './resources/filter.ts';
export { changePassword, createUser, deleteUser, type User } from './resources/user.ts';
export type { CommandInFlight } from './resources/command.ts';
export { patchInterface } from './resources/mode.ts';
export { metricsOf } from './resources/metric.ts';
export {
  routes,
  evolve,
  sequence,
  adoptDocument,
  revert,
  canRevert,
  applyReports,
  redactSecrets,
  type AdminEvent,
  type Effect,
  type HostReport,
  type EffectOf,
  type EventOf,
  type Decision,
  type Transition,
} from './resources/index.ts';

// Read decisions.
export type { Context } from './core/decision.ts';
export type { Sealed } from './core/secret.ts';
export type { Update } from './core/update.ts';
export { isUpdateInPlace } from './resources/shared/update-in-place.ts';
export { nextState, canTransition } from './core/lifecycle.ts';
export {
  problemTable,
  problem,
  hostProblem,
  type ProblemCode,
  type HostProblemCode,
  type Fault,
  type Problem,
  type Result,
} from './problem.ts';

// Run the interface.
export { ReportError } from './runtime/host/host-error.ts';
export { HostError } from './runtime/host/host-error.ts';
export { DifferingDocumentError } from './runtime/host/host-error.ts';
export { createAdmin, openAdmin } from './runtime/create-admin.ts';
export type { AdminOptions, Admin } from './runtime/admin.ts';
export type { Execution } from './runtime/command/execution.ts';
export { createRoles } from './runtime/handler/role.ts';
export type { Handled } from './runtime/handler/handler.ts';
export type { PublishedEvent, EventGap } from './runtime/read/event-log.ts';
export { defaultLimits, type Limits } from './runtime/limits.ts';
export { measurementTable, type Measurement } from './runtime/instrumentation/measurement.ts';
export type { Plan } from './runtime/plan/plan.ts';

// Implement the ports, or use the ready-made ones.
export type {
  EffectContext,
  GatewayPort,
  Clock,
  Hasher,
  SecretSealer,
  AuditSink,
  Logger,
  Authenticate,
  Authorize,
  Veto,
  ConfigurationStore,
  StoredHistory,
} from './ports/port.ts';
export type { AuditRecord, HostAttempt } from './ports/audit-record.ts';
export type { Principal, AdminRequest, AdminResponse } from './http/message.ts';
export { EffectRefusedError, StoreConflictError, StoreLostError } from './ports/port-error.ts';
export { createMemoryStore } from './ports/memory-store.ts';
export { AdminError } from './error.ts';
export { systemClock } from './ports/system-clock.ts';
export { createPbkdf2Hasher } from './ports/pbkdf2-hasher.ts';
export { createSecretSealer } from './ports/secret-sealer.ts';
export { createBasicAuthentication } from './ports/basic-authentication.ts';

// Render resources, and use the table of routes.
export type { Telemetry, Threads } from './resources/telemetry.ts';
export type { May, Role, Route } from './http/route.ts';

// JSON types of the signatures above. The JSON functions are in gateway-admin-core/json.
export type { Json } from './json/value.ts';
export type { Operation } from './json/patch.ts';
