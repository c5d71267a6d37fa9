/**
 * What is wrong in a report of the host.
 */
import { listFaults, type Fault } from '../problem.ts';

/**
 * A report of the host has faults. Goes to `onError`; what is sound in the report holds.
 *
 * @public
 */
export class ReportError extends Error {
  /** Every fault, with its pointer into the report. */
  readonly faults: readonly Fault[];

  /** @param faults - every fault; the message lists up to 20 of them */
  constructor(faults: readonly Fault[]) {
    super(`The report has faults: ${listFaults(faults).join('; ')}`);
    this.name = 'ReportError';
    this.faults = faults;
  }
}
