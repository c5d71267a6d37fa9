/**
 * What tests of a host need: a clock that they move, a gateway that fails as they like, audits of the ports they write.
 *
 * @packageDocumentation
 */

// Let time and chance be what the test says.
export { createVirtualClock, type VirtualClock, type VirtualClockOptions } from './clock.ts';
export { createRandom, type Random } from './random.ts';

// Stand in for the gateway.
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
export { gatewayAudits, type GatewayAudit } from './gateway-audit/gateway-audit.ts';
export { storeAudits, type StoreAudit, type StorePlace } from './store-audit.ts';
