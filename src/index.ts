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
} from './snapshot/document.ts';
export { loadSnapshot } from './runtime/load-snapshot.ts';
export type { SessionDocument, ConnectionDocument } from './snapshot/session-document.ts';
export type { Snapshot } from './snapshot/snapshot.ts';
export type { SessionTable, ConnectionStatistics, Connection, Session } from './snapshot/session-table.ts';
export type { Collection, Entity } from './core/collection.ts';
export { nameKey } from './core/name.ts';
export { linkTo } from './core/link.ts';
export { resolveLink, type LinkedResource } from './resources/shared/look-up.ts';
export type { Version } from './core/version.ts';

// Decide changes: the transitions, one file for each kind of resource.
export {
  startService,
  stopService,
  patchService,
  type ServiceSettings,
  type Service,
  type ServiceRepresentation,
  type ServiceDocument,
} from './resources/service.ts';
export type { Listener, ListenerRepresentation } from './resources/listener.ts';
export {
  serverStatusWords,
  patchServer,
  type ServerStatusWord,
  type ServerSettings,
  type Server,
  type ServerRepresentation,
  type ServerDocument,
} from './resources/server.ts';
export {
  startMonitor,
  stopMonitor,
  patchMonitor,
  type MonitorSettings,
  type Monitor,
  type MonitorRepresentation,
  type MonitorDocument,
} from './resources/monitor.ts';
export { lifecycle, type LifecycleState } from './resources/shared/lifecycle.ts';
export type {
  Instance,
  InstanceRepresentation,
  Threads,
  Thread,
  Task,
  TaskRepresentation,
  Module,
} from './resources/gateway.ts';
export { flushLogs, type Logs, type LogsRepresentation } from './resources/log.ts';
export {
  closeSession,
  closeServiceSessions,
  type SessionRepresentation,
  type SessionIdentity,
} from './resources/session.ts';
export {
  closeServerConnections,
  type ConnectionRepresentation,
  type ConnectionIdentity,
} from './resources/connection.ts';
export {
  patchFilter,
  type FilterParameter,
  type FilterSettings,
  type Filter,
  type FilterRepresentation,
  type FilterDocument,
} from './resources/filter.ts';
export {
  changePassword,
  createUser,
  deleteUser,
  type User,
  type UserRepresentation,
  type NewUser,
} from './resources/user.ts';
export type { CommandInFlight, CommandRepresentation } from './resources/command.ts';
export type { FleetLagRepresentation, FleetNodeRepresentation } from './resources/fleet.ts';
export type { InterfaceRepresentation } from './resources/interface.ts';
export {
  contractVersion,
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
  type Decision,
  type Transition,
  type AppliedReports,
} from './resources/index.ts';

// Read decisions.
export type { Context } from './core/decision.ts';
export type { AdoptOptions } from './resources/shared/adoption.ts';
export type { DocumentDifference } from './resources/shared/document-difference.ts';
export type { Update } from './core/update.ts';
export { isUpdateInPlace } from './resources/shared/update-in-place.ts';
export { defineLifecycle, nextState, canTransition, type Lifecycle } from './core/lifecycle.ts';
export { teardownBatch } from './resources/shared/teardown.ts';
export {
  problemTable,
  maxListedFaults,
  problem,
  hostProblem,
  type ProblemCode,
  type HostProblemCode,
  type Fault,
  type Problem,
  type Result,
} from './problem.ts';

// Run the interface.
export { ReportError } from './runtime/host/report-error.ts';
export { HostError, type HostCall } from './runtime/host/host-error.ts';
export { DifferingDocumentError } from './runtime/host/differing-document-error.ts';
export { createAdmin, openAdmin } from './runtime/create-admin.ts';
export { createFirstUser } from './runtime/first-user.ts';
export type { AdminOptions, OpenAdminOptions, ExecuteOptions, Admin } from './runtime/admin.ts';
export type { Execution } from './runtime/command/execution.ts';
export type { Authorize } from './runtime/handler/access.ts';
export { createRoles, type RolesOptions } from './runtime/handler/role.ts';
export type { Handled } from './runtime/handler/handler.ts';
export type { PublishedEvent, EventGap, EventsOptions } from './runtime/read/event-log.ts';
export type { AuditOptions } from './runtime/audit/sink-queue.ts';
export type { AuditReadOptions } from './runtime/audit/audit-log.ts';
export { defaultLimits, type Limits } from './runtime/limits.ts';
export { measurementTable, type Measurement } from './runtime/instrumentation/measurement.ts';
export type { Plan } from './runtime/handler/plan.ts';
export type { Veto } from './runtime/command/veto.ts';

// Implement the ports, or use the ready-made ones.
export type {
  EffectContext,
  GatewayPort,
  Clock,
  SleepOptions,
  Hasher,
  SecretSealer,
  AuditSink,
  Logger,
  Authenticate,
  ConfigurationStore,
  StoredHistory,
} from './ports/port.ts';
export type {
  AuditRecord,
  WriteRecord,
  AuditedRoute,
  FailedLogInRecord,
  DroppedRecord,
  AuditGap,
  HostAttempt,
} from './ports/audit-record.ts';
export type { Principal, AdminRequest, AdminResponse } from './http/message.ts';
export { EffectRefused, StoreConflictError, StoreLost } from './ports/port-error.ts';
export { createMemoryStore } from './ports/memory-store.ts';
export { systemClock } from './ports/system-clock.ts';
export { createPbkdf2Hasher, type Pbkdf2HasherOptions } from './ports/pbkdf2-hasher.ts';
export { createSecretSealer, type SecretSealerOptions } from './ports/secret-sealer.ts';
export { createBasicAuthentication, type BasicAuthenticationOptions } from './ports/basic-authentication.ts';
export type { Sealed } from './core/secret.ts';

// Render resources, and use the table of routes.
export type { Telemetry } from './resources/shared/rendering.ts';
export { createTimeFormat, type TimeFormat } from './core/time.ts';
export type { PathParameters, Role, Route } from './http/route.ts';

// JSON types of the signatures above. The JSON functions are in gateway-admin-core/json.
export type { Json } from './json/value.ts';
export type { Operation } from './json/patch.ts';
