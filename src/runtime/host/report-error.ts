/**
 * The error for faults in reports of the host.
 */
import { AdminError } from '../../error.ts';
import { listFaults, type Fault } from '../../problem.ts';

/**
 * The error that `onError` gets if reports of the host have faults. A report with a fault changes nothing; the other
 * reports of the same call still count.
 *
 * @public
 */
export class ReportError extends AdminError {
  /** Every fault, with a JSON Pointer into the list of reports. */
  readonly faults: readonly Fault[];

  /** @param faults - every fault; the message lists up to 20 of them */
  constructor(faults: readonly Fault[]) {
    super(
      'report-invalid',
      `Reports of the host have faults and were ignored: ${listFaults(faults).join('; ')}`,
    );
    this.name = 'ReportError';
    this.faults = faults;
  }
}
