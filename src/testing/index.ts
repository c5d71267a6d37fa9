/**
 * Tools for the tests of a host: a clock that a test moves, a gateway that fails on demand, and audits of ports.
 *
 * @packageDocumentation
 */

// Control time and randomness.
export { createVirtualClock, type VirtualClock, type VirtualClockOptions } from './clock.ts';
export { createRandom, type Random } from './random.ts';

// Replace the real gateway.
export {
  createScriptedGateway,
  type ScriptedCall,
  type ScriptedGateway,
  type ScriptedGatewayOptions,
} from './scripted-gateway/scripted-gateway.ts';
export type { ApplyWay, InspectWay } from './scripted-gateway/script.ts';
export { hold, type HeldCall } from './scripted-gateway/held-call.ts';
export {
  everyFault,
  type ApplyFaults,
  type GatewayFaults,
  type InspectFaults,
} from './scripted-gateway/fault.ts';
export type { GatewayTraffic } from './scripted-gateway/traffic.ts';
export type {
  ScriptedConnection,
  ScriptedSession,
  ScriptedState,
  ScriptedThing,
} from './scripted-gateway/state.ts';

// Audit the ports.
export { gatewayAudits, type GatewayAudit, type GatewayAudits } from './gateway-audit/gateway-audit.ts';
export type { AuditClient, AuditedGateway, GatewayAuditOptions } from './gateway-audit/audited-gateway.ts';
export {
  sharedStoreAudits,
  storeAudits,
  type SharedStorePlace,
  type StoreAudit,
  type StorePlace,
} from './store-audit.ts';
