/**
 * The administration interface of a database gateway, as a library.
 *
 * Grouped by what a reader wants to do.
 *
 * @packageDocumentation
 */

// Build a snapshot, look at it, write it down.
export {
  InvalidDocumentError,
  createSnapshot,
  toDocument,
  type GatewayDocument,
  type ServiceEntry,
  type FilterEntry,
} from './snapshot/document.ts';
export type { SessionEntry, ConnectionEntry } from './snapshot/session-document.ts';
export type { Snapshot } from './snapshot/snapshot.ts';
export type {
  SessionTable,
  ConnectionStatistics,
  Connection,
  Session,
  SessionConnection,
  TableChange,
} from './snapshot/session-table.ts';
export type { Collection, Entity } from './core/collection.ts';
export { nameKey } from './core/name.ts';
export { linkTo } from './core/link.ts';
export type { Version } from './core/etag.ts';

// Decide: the transitions, one file for each kind of resource.
export {
  serviceLifecycle,
  startService,
  stopService,
  patchService,
  type ServiceState,
  type Service,
  type ServiceRepresentation,
  type OfService,
  type ServiceEvent,
  type ServiceObservation,
  type ServiceEffect,
  type ServiceDecision,
} from './resources/service.ts';
export type { ServiceSettings } from './resources/service-settings.ts';
export type { Listener } from './resources/listener.ts';
export {
  serverStatusWords,
  patchServer,
  type ServerStatusWord,
  type ServerSettings,
  type Server,
  type ServerRepresentation,
  type OfServer,
  type ServerEvent,
  type ServerObservation,
  type ServerEffect,
  type ServerDecision,
} from './resources/server.ts';
export {
  monitorLifecycle,
  startMonitor,
  stopMonitor,
  patchMonitor,
  type MonitorState,
  type MonitorSettings,
  type Monitor,
  type MonitorRepresentation,
  type OfMonitor,
  type MonitorEvent,
  type MonitorObservation,
  type MonitorEffect,
  type MonitorDecision,
} from './resources/monitor.ts';
export type { Instance, InstanceRepresentation, Threads, Thread, Task, Module } from './resources/gateway.ts';
export {
  flushLogs,
  type Logs,
  type LogsRepresentation,
  type LogEvent,
  type LogEffect,
  type LogDecision,
} from './resources/log.ts';
export {
  closeSession,
  closeServiceSessions,
  type SessionRepresentation,
  type SessionIdentity,
  type SessionFacts,
  type SessionObservation,
  type SessionEvent,
  type SessionEffect,
  type SessionDecision,
} from './resources/session.ts';
export {
  closeServerConnections,
  type ConnectionRepresentation,
  type ConnectionIdentity,
  type ConnectionFacts,
  type ConnectionObservation,
  type ConnectionEvent,
  type ConnectionEffect,
  type ConnectionDecision,
} from './resources/connection.ts';
export {
  patchFilter,
  type FilterParameter,
  type FilterSettings,
  type Filter,
  type FilterRepresentation,
  type OfFilter,
  type FilterEvent,
  type FilterEffect,
  type FilterDecision,
} from './resources/filter.ts';
export {
  createUser,
  deleteUser,
  type User,
  type UserRepresentation,
  type NewUser,
  type OfUser,
  type UserEvent,
  type UserDecision,
} from './resources/user.ts';
export type { OperationEvent } from './resources/operation.ts';
export {
  contractVersion,
  routes,
  evolve,
  sequence,
  revert,
  canRevert,
  observe,
  type Event,
  type Effect,
  type Observation,
  type Decision,
  type Step,
  type Route,
} from './resources/index.ts';

// Read a decision.
export type {
  Context,
  EventBase,
  EventOf,
  EffectBase,
  EffectOf,
  Accepted,
  Unchanged,
  Refused,
  DecisionOf,
  StepOf,
} from './core/decision.ts';
export type { Observed } from './core/observation.ts';
export type { ReversibleUpdate, Update } from './core/update.ts';
export { defineLifecycle, stepLifecycle, canStep, type Lifecycle } from './core/lifecycle.ts';
export { teardownBatch } from './core/batch.ts';
export {
  problemTable,
  maxListedFaults,
  problem,
  type ProblemCode,
  type Fault,
  type Problem,
  type Result,
} from './core/problem.ts';

// Run the interface.
export { ReportError } from './runtime/report-error.ts';
export {
  createAdmin,
  openAdmin,
  type AdminOptions,
  type OpenAdminOptions,
  type ExecuteOptions,
  type Admin,
} from './runtime/admin.ts';
export type { Execution } from './runtime/execution.ts';
export type { Handled, Authorize } from './runtime/handler.ts';
export type { PublishedEvent, EventGap, EventsOptions } from './runtime/event-log.ts';
export { defaultLimits, type Limits } from './runtime/limits.ts';
export type { Closes, Plan } from './runtime/plan.ts';

// Bring your own ports, or take ours.
export type {
  EffectContext,
  GatewayPort,
  Clock,
  Hasher,
  Secrets,
  Principal,
  AdminRequest,
  AdminResponse,
  Authenticate,
  ConfigurationStore,
  StoredHistory,
} from './ports/port.ts';
export { EffectRefused } from './ports/effect-refused.ts';
export { createMemoryStore } from './ports/memory-store.ts';
export { StoreConflictError } from './ports/store-conflict.ts';
export { systemClock } from './ports/system-clock.ts';
export { createPbkdf2Hasher, type Pbkdf2HasherOptions } from './ports/pbkdf2-hasher.ts';
export { createSecrets, type SecretsOptions } from './ports/secrets.ts';
export { createBasicAuthentication, type BasicAuthenticationOptions } from './ports/basic-authentication.ts';
export { withoutSecrets, type Sealed } from './core/secret.ts';

// Render, and walk the table of routes.
export type { Telemetry, Rendering } from './snapshot/rendering.ts';
export { createTimeFormat, type TimeFormat } from './core/time.ts';
export {
  patchMediaTypes,
  type PathParameters,
  type Method,
  type RouteFacts,
  type ItemRoute,
  type Listing,
  type ListRoute,
  type Protector,
  type BodyRule,
  type CommandRoute,
  type RouteOf,
} from './core/route.ts';

// Patch JSON.
export { applyPatch, type Operation, type PatchRules } from './core/patch.ts';
export { diff, type DiffOptions } from './core/diff.ts';
export { parsePointer, formatPointer } from './core/pointer.ts';
export type { Json, JsonLimits } from './core/json.ts';
