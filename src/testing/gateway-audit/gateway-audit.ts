/**
 * The requirements for every gateway port, as a list of audits. The author of a port runs the audits in any test
 * framework.
 */
import { assertMembers } from '../../core/member.ts';
import {
  applyReports,
  createSnapshot,
  linkTo,
  type Admin,
  type Effect,
  type GatewayDocument,
  type HostReport,
  type Snapshot,
} from '../../index.ts';
import { auditedEffectsIn, isDrain, type AuditedEffect, type AuditedEffects } from './audited-effect.ts';
import {
  clientServices,
  eventually,
  withGateway,
  type AuditedGateway,
  type GatewayAuditOptions,
  type Host,
} from './audited-gateway.ts';
import { callsFor } from './call.ts';
import { clientLaws, laws, startLaws, type Law } from './law.ts';
import { reportLaws } from './report-law.ts';

/**
 * One requirement for a gateway port.
 *
 * @beta
 */
export interface GatewayAudit {
  /** The id of the audit: the type of the effect or `reports`, and the requirement. An id never changes. */
  readonly id: string;
  /** The requirement, in a sentence. */
  readonly name: string;
  /** Resolves if the port meets the requirement. Rejects with an Error that says how the port behaves instead. */
  run(this: void): Promise<void>;
}

/**
 * Creates the audits of a gateway port.
 *
 * The audits call the port with the effects of transitions on the document. The effects start and stop services and
 * monitors, change settings (a limit of a service, the maintenance of a server, the interval of a monitor, the value of
 * a parameter), close sessions and connections, flush the logs, and delete and create what is not in use: a stopped
 * service or monitor, a server or filter that no list names, the first listener of each service. Give a document with
 * at least two resources of every kind, one of them not in use: a kind that the document lacks is not audited. A
 * gateway whose `supports` does not list both `create` and `delete` is not asked for either. A gateway that lists
 * `drain` is asked to drain the first server that a started service lists, and the first stopped service.
 *
 * Each audit has an interface of its own, over the document. When the port has applied an effect, the interface settles
 * the effect. So a port may read settings from `admin.snapshot` at each use. The port gets effects from the audit
 * alone: a command on that interface does not reach the port.
 *
 * With `connect`, the audits also look at the reports of the gateway, and each report may come a second late. A gateway
 * that lists `drain` must report each session that it has accepted before a stop is applied.
 *
 * @param document - the initial state of the gateway
 * @param open - opens a gateway in that state, for the interface that it gets; called at least once for each audit
 * @param options - `connect`: connects a client, to audit how the port closes sessions and connections; `obstruct`:
 *   lets the start of a service fail, to audit what `inspect` answers while the gateway tries again; `interrupt`: takes
 *   a server away, to audit what the gateway reports of it
 * @returns the audits, which may run in any order
 * @throws {@link InvalidDocumentError} if the document is invalid
 * @throws TypeError for an unknown option, and for something that is no function
 *
 * @example
 * ```ts
 * import { createSnapshot } from 'gateway-admin-core';
 * import { createScriptedGateway, gatewayAudits } from 'gateway-admin-core/testing';
 *
 * const document = { services: [{ name: 'Sales', router: 'readconnroute' }] };
 * const snapshot = createSnapshot(document);
 * const audits = gatewayAudits(document, async () => createScriptedGateway({ snapshot }));
 * audits[0]?.id; // => 'service.stop/before'
 * audits[0]?.name; // => 'service.stop is not in place before apply, however often inspect is called'
 * for (const audit of audits) await audit.run();
 * ```
 *
 * @beta
 */
export function gatewayAudits<Gateway extends AuditedGateway>(
  document: GatewayDocument,
  open: (admin: Admin) => Promise<Gateway>,
  options: GatewayAuditOptions<Gateway> = {},
): readonly GatewayAudit[] {
  assertMembers(options, ['connect', 'obstruct', 'interrupt'], 'option of gatewayAudits');
  const { connect, obstruct, interrupt } = options;
  assertFunction('open', open);
  if (connect !== undefined) assertFunction('connect', connect);
  if (obstruct !== undefined) assertFunction('obstruct', obstruct);
  if (interrupt !== undefined) assertFunction('interrupt', interrupt);
  const host = { ...options, snapshot: createSnapshot(document), open };
  const hasClients = connect !== undefined;
  const required = [...laws, ...(obstruct === undefined ? [] : startLaws), ...(hasClients ? clientLaws : [])];
  const all = auditedEffectsIn(hasClients ? withClients(host.snapshot) : host.snapshot);
  const types = [...new Set(all().map(({ effect }) => effect.type))];
  const effectAudits = types.flatMap((type) =>
    required
      .filter((law) => coveredBy(law, type, all).length > 0)
      .map((law) => ({
        id: `${type}/${law.id}`,
        name: `${type} ${law.name}`,
        run: () => runAudit(host, type, law),
      })),
  );
  return [...effectAudits, ...reportAudits(host)];
}

/** Why there is nothing to audit: what has failed to start takes no clients. */
function nothingToAudit(type: Effect['type'], { services, monitors }: Snapshot): string {
  const failed = [...services, ...monitors].filter(({ seen }) => seen.state === 'failed');
  const why = failed.map(
    ({ name, seen: { state_reason: reason = 'it has given no reason' } }) => `${name} has failed: ${reason}`,
  );
  const hint =
    failed.length === 0 ? '' : ` (${why.join('; ')}. Is the gateway of the audit before still open?)`;
  return `the gateway must report something to audit with ${type}, but reports nothing${hint}`;
}

function reportAudits<Gateway extends AuditedGateway>(host: Host<Gateway>): readonly GatewayAudit[] {
  return reportLaws
    .filter(({ covers, needs }) => covers(host.snapshot) && host[needs ?? 'connect'] !== undefined)
    .map(({ id, name, check }) => ({ id: `reports/${id}`, name, run: () => withGateway(host, check) }));
}

function assertFunction(name: string, value: unknown): void {
  if (typeof value !== 'function') throw new TypeError(`${name} must be a function`);
}

/** Checks every effect that a law covers, each on a gateway of its own. */
async function runAudit<Gateway extends AuditedGateway>(
  host: Host<Gateway>,
  type: Effect['type'],
  law: Law,
): Promise<void> {
  let [index, count] = [0, 1];
  while (index < count) {
    await withGateway(host, async (opened) => {
      const found = await eventually(() => {
        const all = auditedEffectsIn(opened.admin.snapshot, opened.gateway.sessionsEnd);
        const covered = coveredBy(law, type, all);
        const audited = covered[index];
        return audited && { all, audited, count: covered.length };
      });
      if (found === undefined) throw new Error(nothingToAudit(type, opened.admin.snapshot));
      const { all, audited } = found;
      count = found.count;
      const { supports = [] } = opened.gateway;
      if (!isSupported(audited, supports) || (law.needs && !supports.includes(law.needs))) return;
      const calls = callsFor(audited, opened);
      if (audited.first !== undefined) {
        await calls.apply(audited.first);
        await calls.expect(audited.first, 'in-place', 'after apply');
      }
      await law.check(audited, calls, (only) => all(only).filter((each) => isSupported(each, supports)));
    });
    index += 1;
  }
}

/**
 * Whether the gateway says that it can do what an audit asks for. What is created is deleted first, and the reverse.
 */
function isSupported({ effect }: AuditedEffect, supports: readonly string[]): boolean {
  if (isDrain(effect)) return supports.includes('drain');
  const isMembership = 'from' in effect !== 'to' in effect;
  return !isMembership || (supports.includes('create') && supports.includes('delete'));
}

function coveredBy({ covers }: Law, type: Effect['type'], all: AuditedEffects): readonly AuditedEffect[] {
  return all(type).filter((audited) => covers(audited, all));
}

/** The snapshot with sessions as the clients of the audits open them, to know which audits there are. */
function withClients(snapshot: Snapshot): Snapshot {
  const reports = clientServices(snapshot).map((service, index): HostReport => {
    const servers = [...snapshot.servers].filter(({ name }) =>
      service.settings.servers.includes(linkTo('servers', name)),
    );
    return {
      type: 'session.opened',
      id: Number.MAX_SAFE_INTEGER - index,
      service: service.name,
      ...{ connected: 0, user: '', address: '', state: '' },
      connections: servers.slice(0, 1).map(({ name }) => ({ id: 0, server: name, role: '', state: '' })),
    };
  });
  return applyReports(snapshot, reports, { now: 0 }).next;
}
