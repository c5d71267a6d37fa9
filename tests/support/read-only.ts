/**
 * The read-only mode, as a program begins and ends it.
 */
import { patchInterface, type Admin, type Execution, type Snapshot } from 'gateway-admin-core';

/** Begins or ends the read-only mode. */
export function setReadOnly(admin: Pick<Admin, 'execute'>, value: boolean): Promise<Execution> {
  return admin.execute((snapshot, context) => patchInterface(snapshot, operationsTo(value), context));
}

/** A snapshot whose interface is read-only. */
export function readOnlySnapshot(snapshot: Snapshot): Snapshot {
  const reason = { op: 'add', path: '/read_only_reason', value: 'The disks are changed.' } as const;
  return patchInterface(snapshot, [...operationsTo(true), reason], { now: 0 }).next;
}

function operationsTo(value: boolean) {
  return [{ op: 'replace', path: '/read_only', value }] as const;
}
