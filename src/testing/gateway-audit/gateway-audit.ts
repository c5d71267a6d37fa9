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
import {
  auditedEffectsIn,
  auditedTypes,
  isDrain,
  vetoOn,
  type AuditedEffect,
  type AuditedEffects,
} from './audited-effect.ts';
import {
  clientServices,
  eventually,
  hintOf,
  withGateway,
  type AuditedGateway,
  type GatewayAuditOptions,
  type Host,
  type OpenedGateway,
} from './audited-gateway.ts';
import { callsFor, type Calls } from './call.ts';
import { laws, type Law, type Need } from './law.ts';
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
 * The audits of a gateway port.
 *
 * @beta
 */
export interface GatewayAudits extends ReadonlyArray<GatewayAudit> {
  /**
   * The audits that are not in the list, each with the reason: a missing option, a word that `supports` does not
   * list, the sentence with which `veto` refuses the effect, or something that the document lacks. A type of effects
   * of which the document has nothing is listed without a requirement.
   */
  readonly leftOut: readonly { readonly id: string; readonly why: string }[];
}

/**
 * Creates the audits of a gateway port.
 *
 * The audits call the port with the effects of transitions on the document. The effects start and stop services and
 * monitors, change settings (a limit of a service, the maintenance of a server, the interval of a monitor, the value of
 * a parameter), close sessions and connections, flush the logs, and delete and create what is not in use: a stopped
 * service or monitor, a server or filter that no list names, the first listener of each service. Give a document with
 * at least two resources of every kind, one of them not in use, two started services, and a stopped one with two
 * listeners. Only with `create` and `delete` in `supports` is anything created and deleted. With `drain`, the first
 * server that a started service lists is drained, and the first stopped service. The member `leftOut` of the list says
 * what is not audited, and why.
 *
 * Each audit has an interface of its own, over the document. The port applies an effect while the interface has the
 * command in flight. So a port may read settings from `admin.snapshot` at each use. The port gets effects from the
 * audit alone: a command on that interface does not reach the port.
 *
 * With `connect`, the audits also look at the reports of the gateway, and each report may come a second late. A gateway
 * that lists `drain` must report each session that it has accepted before a stop is applied.
 *
 * @param document - the initial state of the gateway
 * @param open - opens a gateway in that state, for the interface that it gets; called at least once for each audit
 * @param options - `connect`: connects a client, to audit how the port closes sessions and connections; `obstruct`:
 *   lets the start of a service fail, to audit what `inspect` answers while the gateway tries again; `interrupt`: takes
 *   a server away, to audit what the gateway reports of it; `supports` and `veto`: those of the gateway, to leave
 *   out what the gateway cannot do
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
 * const { supports } = createScriptedGateway({ snapshot });
 * const audits = gatewayAudits(document, async () => createScriptedGateway({ snapshot }), { supports });
 * audits[0]?.id; // => 'service.stop/before'
 * audits[0]?.name; // => 'service.stop is not in place before apply, however often inspect is called'
 * audits.leftOut[0]; // => { id: 'service.stop/sessions', why: 'it needs the option connect' }
 * for (const audit of audits) await audit.run();
 * ```
 *
 * @beta
 */
export function gatewayAudits<Gateway extends AuditedGateway>(
  document: GatewayDocument,
  open: (admin: Admin) => Promise<Gateway>,
  options: GatewayAuditOptions<Gateway> = {},
): GatewayAudits {
  assertMembers(options, [...means, 'supports', 'veto'], 'option of gatewayAudits');
  assertFunction('open', open);
  for (const name of [...means, 'veto'] as const)
    if (options[name] !== undefined) assertFunction(name, options[name]);
  const host = { ...options, snapshot: createSnapshot(document), open };
  const all: readonly Candidate[] = [...effectAudits(host), unknownAudit(host), ...reportAudits(host)];
  const audits = all.flatMap(({ why, ...audit }) => (why === undefined ? [audit] : []));
  const leftOut = all.flatMap(({ id, why }) => (why === undefined ? [] : [{ id, why }]));
  return Object.assign(audits, { leftOut: [...leftOut, ...missingInDocument(all)] });
}

/** The options with which an audit does something to the gateway. */
const means = ['connect', 'obstruct', 'interrupt'] as const satisfies readonly Need[];

/** An audit, and why it is left out. */
interface Candidate extends GatewayAudit {
  readonly why?: string;
}

function effectAudits<Gateway extends AuditedGateway>(host: Host<Gateway>): readonly Candidate[] {
  const { snapshot, connect } = host;
  const [withSessions, own] = [withClients(snapshot), snapshot].map((each) => auditedEffectsIn(each, host));
  if (withSessions === undefined || own === undefined) return [];
  const usual = connect === undefined ? own : withSessions;
  const types = [...new Set(withSessions().map(({ effect }) => effect.type))];
  return types.flatMap((type) =>
    laws.flatMap((law): readonly Candidate[] => {
      const covered = coveredBy(law, type, withSessions);
      const missing = coveredBy(law, type, usual).map((audited) => whyNot(host, law, audited));
      if (covered.length === 0) return [];
      const audit = {
        id: `${type}/${law.id}`,
        name: `${type} ${law.name}`,
        run: () => runAudit(host, type, law),
      };
      if (missing.includes(undefined)) return [audit];
      return [{ ...audit, why: missing[0] ?? needed('connect') }];
    }),
  );
}

/** Why an effect is not checked; `undefined` if it is. What is created is deleted first, and the reverse. */
function whyNot<Gateway extends AuditedGateway>(
  host: Host<Gateway>,
  { needs = [] }: Pick<Law, 'needs'>,
  { effect, decision }: AuditedEffect,
): string | undefined {
  const isMembership = !isDrain(effect) && 'from' in effect !== 'to' in effect;
  const own: readonly Need[] = isDrain(effect) ? ['drain'] : isMembership ? ['create', 'delete'] : [];
  const missing = [...needs, ...own].find((need) => !has(host, need));
  return missing === undefined ? vetoOn(decision, host) : needed(missing);
}

function has<Gateway extends AuditedGateway>(
  { supports = [], ...options }: Host<Gateway>,
  need: Need,
): boolean {
  const words: readonly string[] = supports;
  return isMeans(need) ? options[need] !== undefined : words.includes(need);
}

function needed(need: Need): string {
  return isMeans(need) ? `it needs the option ${need}` : `supports does not list ${need}`;
}

function isMeans(need: Need): need is (typeof means)[number] {
  return means.some((each) => each === need);
}

/** The types of effects, and the laws, for which the document lacks something. */
function missingInDocument(all: readonly Candidate[]): GatewayAudits['leftOut'] {
  const isMissing = (id: string): boolean => !all.some((each) => `${each.id}/`.startsWith(`${id}/`));
  const types = auditedTypes().filter(isMissing);
  const unmet = laws.flatMap(({ id, wants }) => {
    if (wants === undefined || types.includes(wants.type) || !isMissing(`${wants.type}/${id}`)) return [];
    return [{ id: `${wants.type}/${id}`, why: `the document has no ${wants.what}` }];
  });
  return [...unmet, ...types.map((id) => ({ id, why: 'the document has nothing for it' }))];
}

/** Why there is nothing to audit: what has failed to start takes no clients. */
function nothingToAudit(type: Effect['type'], { admin, faults }: OpenedGateway): string {
  const { services, monitors } = admin.snapshot;
  const failed = [...services, ...monitors].filter(({ seen }) => seen.state === 'failed');
  const why = failed.map(
    ({ name, seen: { state_reason: reason = 'it has given no reason' } }) => `${name} has failed: ${reason}`,
  );
  const hint =
    failed.length === 0 ? '' : ` (${why.join('; ')}. Is the gateway of the audit before still open?)`;
  return `the gateway must report something to audit with ${type}, but reports nothing${hint}${hintOf(faults)}`;
}

function reportAudits<Gateway extends AuditedGateway>(host: Host<Gateway>): readonly Candidate[] {
  return reportLaws
    .filter(({ covers }) => covers(host.snapshot))
    .map(({ id, name, needs = ['connect'], check }) => {
      const missing = needs.find((need) => !has(host, need));
      const audit = { id: `reports/${id}`, name, run: () => withGateway(host, check) };
      return missing === undefined ? audit : { ...audit, why: needed(missing) };
    });
}

/** A later version of the library can have further types of effects. */
function unknownAudit<Gateway extends AuditedGateway>(host: Host<Gateway>): GatewayAudit {
  const resource = '/services/no-such-service';
  const effect = {
    type: 'service.no_such_effect',
    resource,
    service: 'no-such-service',
  } as unknown as Effect;
  return {
    id: 'unknown/refused',
    name: 'an effect of a type that the gateway does not know is refused, and is not in place',
    run: () =>
      withGateway(host, async (opened) => {
        const { expectRefusal, expect } = callsFor({ effect }, opened);
        await expectRefusal(effect, 'because no gateway knows this type');
        await expect(effect, 'not-in-place', 'because no gateway knows this type');
      }),
  };
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
        const all = auditedEffectsIn(opened.admin.snapshot, opened.gateway);
        const covered = coveredBy(law, type, all);
        const audited = covered[index];
        return audited && { all, audited, count: covered.length };
      });
      if (found === undefined) throw new Error(nothingToAudit(type, opened));
      const { all, audited } = found;
      count = found.count;
      if (whyNot(host, law, audited) !== undefined) return;
      assertVeto(host, vetoOn(audited.decision, opened.gateway));
      const calls = callsFor(audited, opened);
      const settings = law.asksSettings === true ? await settingsNow(audited, calls) : [];
      if (audited.first !== undefined) {
        await calls.apply(audited.first);
        await calls.expect(audited.first, 'in-place', 'after apply');
      }
      const { length } = opened.faults;
      await law.check({ ...audited, settings }, calls, (only) =>
        all(only).filter((each) => whyNot(host, {}, each) === undefined),
      );
      const fault = opened.faults.slice(length);
      if (fault.length > 0) throw new Error(`the interface must take every report${hintOf(fault)}`);
    });
    index += 1;
  }
}

/** @throws Error if the gateway refuses what the list of audits has, and the list was made without its `veto` */
function assertVeto<Gateway extends AuditedGateway>(
  { veto }: Host<Gateway>,
  detail: string | undefined,
): void {
  if (detail === undefined || veto !== undefined) return;
  throw new Error(
    `veto of the gateway refuses the effect: ${detail} Give gatewayAudits the option veto, and the audits of this effect ` +
      'are left out',
  );
}

/** The settings that the gateway has before anything is changed. A gateway need not have each of them. */
async function settingsNow({ settings = [] }: AuditedEffect, { look }: Calls): Promise<readonly Effect[]> {
  const seen = [];
  for (const each of settings) if ((await look(each)) === 'in-place') seen.push(each);
  return seen;
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
