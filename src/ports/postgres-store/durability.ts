/**
 * What a confirmed change rests on. An administrator can change each setting while stores are open, and behind a pool a
 * session has the settings of another client. So every statement that changes the log sets and checks them itself.
 */

/** The condition of a statement that confirms a change. @internal */
export const isKept = `current_setting('fsync')::boolean`;

/** The column that {@link assertKept} reads. @internal */
export const keptColumn = `current_setting('fsync') as fsync`;

/**
 * A column that lets the commit of its statement wait for the disk, and for the synchronous standby if the server has
 * one. `remote_apply` waits for more, and stays.
 *
 * @internal
 */
export const waitForDisk = `
  set_config('synchronous_commit',
    case current_setting('synchronous_commit') when 'remote_apply' then 'remote_apply' else 'on' end, true)`;

/**
 * Refuses a server that loses what it confirms. `full_page_writes` may be off: that is right on a file system whose
 * writes are never torn.
 *
 * @param row - a row with {@link keptColumn}
 * @throws Error with the setting, and what to do
 * @internal
 */
export function assertKept(row: Readonly<Record<string, string | null>> | undefined): void {
  if (row?.['fsync'] === 'off')
    throw new Error(
      'fsync is off, and a crash of the machine would lose changes that clients got a 204 for. Set fsync = on for the server',
    );
}
