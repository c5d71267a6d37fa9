/**
 * What the nodes of a fleet show of the resources that clients change.
 */

/** What of a representation matters here. */
export interface Listed {
  readonly name: string;
  readonly state?: string;
  readonly max_connection?: number;
  readonly connection_timeout?: number;
  readonly monitor_interval?: number;
  readonly parameters?: { readonly count?: number };
}

/** The configured values of a resource. */
export function fieldsOf(kind: string, { name, ...each }: Listed): readonly (readonly [string, unknown])[] {
  const at = (field: string, value: unknown) => [`/${kind}/${name} ${field}`, value] as const;
  if (kind === 'users') return [at('state', 'exists')];
  if (kind === 'servers') return [at('parameters/count', each.parameters?.count)];
  const { state, max_connection, connection_timeout, monitor_interval } = each;
  return [
    at('state', state),
    at('max_connection', max_connection),
    at('connection_timeout', connection_timeout),
    at('monitor_interval', monitor_interval),
  ];
}
