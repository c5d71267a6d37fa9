/**
 * What a confirmed change rests on. An administrator can change each setting while stores are open, and behind a pool a
 * session has the settings of another client. So every statement that changes the log sets and checks them itself.
 */
/** The settings of the server without which a crash of the machine loses what the server has confirmed. */
const required = ['fsync', 'full_page_writes'] as const;

/** The condition of a statement that confirms a change. @internal */
export const isKept = required.map((name) => `current_setting('${name}')::boolean`).join(' and ');

/** The columns that {@link assertKept} reads. @internal */
export const keptColumns = required.map((name) => `current_setting('${name}') as ${name}`).join(', ');

/**
 * A column that lets the commit of its statement wait for the disk, and for the synchronous standby if the server has one.
 * `remote_apply` waits for more, and stays.
 *
 * @internal
 */
export const waitForDisk = `
  set_config('synchronous_commit', case current_setting('synchronous_commit') when 'remote_apply' then 'remote_apply' else 'on' end, true)`;

/**
 * Refuses a server that loses what it confirms.
 *
 * @param row - a row with {@link keptColumns}
 * @throws Error with the setting, and what to do
 * @internal
 */
export function assertKept(row: Readonly<Record<string, string | null>> | undefined): void {
  for (const name of required) {
    if (row?.[name] === 'off')
      throw new Error(
        `${name} is off, and a crash of the machine would lose changes that clients got a 204 for. ` +
          `Set ${name} = on for the server`,
      );
  }
}
