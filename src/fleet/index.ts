/**
 * A fleet: several gateway nodes in step on one store.
 */
export { openFleet } from './open-fleet.ts';
export type { Fleet, FleetAdmin, FleetExecuteOptions, FleetOutcome, OpenFleetOptions } from './fleet.ts';
export type { FleetGap, FleetHistoryOptions, FleetRecord, FleetStep } from './fleet-history.ts';
export type {
  FleetLag,
  FleetLagRepresentation,
  FleetNode,
  FleetNodeRepresentation,
} from '../resources/fleet.ts';
export {
  createSharedMemory,
  type SharedMemory,
  type SharedMemoryOptions,
} from '../ports/shared-memory-store.ts';
export type { LogStep, SharedStore } from '../ports/port.ts';
