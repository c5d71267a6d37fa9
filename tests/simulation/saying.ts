/**
 * What a gateway says of its services and monitors beside their states: why one has failed, and when one has started by
 * itself. The gateway repeats what it has said, until something else happens.
 */
import type { HostReport, Snapshot } from 'gateway-admin-core';
import type { Random, ScriptedState } from 'gateway-admin-core/testing';

import { shown as asShown } from '../support/shown.ts';

type Lifecycle = Extract<HostReport, { readonly type: 'service.reported' | 'monitor.reported' }>;

/** What a gateway says of one service or monitor. */
interface Saying {
  readonly reason?: string;
  readonly started?: number;
}

/** What the interface shows of a service or monitor; of a monitor, no time. */
interface Shown {
  readonly state: string;
  readonly state_reason?: string;
  readonly started?: number;
}

export class Sayings {
  readonly #random: Random;
  readonly #said = new Map<string, Saying>();
  /** The starts that the gateway is asked for: meanwhile nobody knows which start is the last one. */
  readonly #starting = new Map<string, number>();
  /**
   * Reasons that were said during a start, and then a failure without one: nobody knows whether that is the same
   * failure, which need not give its reason again, or one of the new start.
   */
  readonly #doubtful = new Map<string, string | undefined>();
  #count = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  /** Something has happened in the gateway, and its reports say more of it. */
  happened(reports: readonly HostReport[], now: number): readonly HostReport[] {
    for (const report of reports.filter(isLifecycle)) {
      const name = nameIn(report);
      const [before, said] = [this.#said.get(name)?.reason, this.#new(report, now)];
      const isDoubtful = report.state === 'failed' && said.reason === undefined && this.#isStarting(name);
      this.#doubtful.set(name, isDoubtful ? before : undefined);
      this.#said.set(name, said);
    }
    return this.repeated(reports);
  }

  /** What has failed fails for another reason. */
  worsened(reports: readonly HostReport[]): readonly HostReport[] {
    const failures = reports.filter((report) => isLifecycle(report) && report.state === 'failed');
    for (const failure of failures) this.#said.set(nameIn(failure), { reason: this.#reason() });
    return this.repeated(failures);
  }

  /** The gateway reports again what it has reported. */
  repeated(reports: readonly HostReport[]): readonly HostReport[] {
    return reports.map((report) =>
      isLifecycle(report) ? { ...report, ...this.#said.get(nameIn(report)) } : report,
    );
  }

  /** The gateway is asked for a start. */
  begin(name: string): void {
    this.#starting.set(name, (this.#starting.get(name) ?? 0) + 1);
    this.#forgetStart(name);
  }

  /** The gateway has answered. What it says of the start from now on, the interface must show. */
  end(name: string): void {
    this.#starting.set(name, (this.#starting.get(name) ?? 0) - 1);
    this.#forgetStart(name);
  }

  /** Another life of the interface: what was asked for has ended, and the library has its own times. */
  forgetStarts(): void {
    this.#starting.clear();
    for (const name of this.#said.keys()) this.#forgetStart(name);
  }

  /** What is shown otherwise than the gateway has said, of what is shown in the state that the gateway has. */
  mistold({ services, monitors }: ScriptedState, shown: Snapshot): readonly string[] {
    return Object.entries({ ...services, ...monitors }).flatMap(([name, { state }]) => {
      const thing: Shown | undefined = asShown(shown.services.find(name) ?? shown.monitors.find(name));
      const { reason, started } = this.#said.get(name) ?? {};
      const link = `/${name in services ? 'services' : 'monitors'}/${name}`;
      if (thing?.state !== state) return [];
      if (state === 'failed')
        return thing?.state_reason !== undefined && thing.state_reason === this.#doubtful.get(name)
          ? []
          : differing(`${link} reason`, reason, thing?.state_reason);
      const isKnown = name in services && started !== undefined && !this.#isStarting(name);
      return state === 'started' && isKnown ? differing(`${link} started`, started, thing?.started) : [];
    });
  }

  #new({ state }: Lifecycle, now: number): Saying {
    if (this.#random.chance(0.3)) return {};
    return state === 'failed' ? { reason: this.#reason() } : { started: now };
  }

  #reason(): string {
    this.#count += 1;
    return `broken for the ${String(this.#count)}th time`;
  }

  #isStarting(name: string): boolean {
    return (this.#starting.get(name) ?? 0) > 0;
  }

  #forgetStart(name: string): void {
    const { reason } = this.#said.get(name) ?? {};
    this.#said.set(name, reason === undefined ? {} : { reason });
  }
}

function isLifecycle(report: HostReport): report is Lifecycle {
  return report.type === 'service.reported' || report.type === 'monitor.reported';
}

/** The name of the service or monitor that a report is about. */
export function nameIn(report: HostReport): string {
  const { service, monitor } = report as { readonly service?: string; readonly monitor?: string };
  return service ?? monitor ?? '';
}

function differing(what: string, said: unknown, shown: unknown): readonly string[] {
  return said === shown
    ? []
    : [`${what}: the gateway has said ${String(said)}, the snapshot has ${String(shown)}`];
}
