/**
 * A reader of audit records that writes down what it gets.
 */
import type { Admin, AuditRecord } from 'gateway-admin-core';

/** The records from now on. They are in the list once the code under test is idle. */
export function readAudit(admin: Admin): readonly AuditRecord[] {
  const records: AuditRecord[] = [];
  void collect(admin.audit(), records);
  return records;
}

async function collect(reader: ReturnType<Admin['audit']>, records: AuditRecord[]): Promise<void> {
  for await (const item of reader) {
    if (item.kind === 'gap') throw new Error('The reader of audit records was too slow');
    records.push(item);
  }
}

/** Records in short: `<actor> <route or call> <outcome> <code>`, or the number of failed log-ins. */
export function inShort(records: readonly AuditRecord[]): readonly string[] {
  return records.map((record) => {
    if (record.kind === 'dropped') return `dropped: ${String(record.count)}`;
    if (record.kind === 'failed-log-in') return `failed log-ins: ${String(record.count)}`;
    const { actor = 'nobody', route, call, outcome, code = '' } = record;
    return `${actor} ${route?.id ?? call ?? 'restart'} ${outcome} ${code}`.trim();
  });
}
