/**
 * Crossing reports: reports of a state that arrive while the host carries out an effect on the same aspect.
 *
 * Such a report is newer than the effect, but arrives before the event of the effect is folded. So the report is folded
 * twice: on arrival, and once more after the command has settled. Without that, a service that fails while its start
 * settles would be shown as started until the host reports again.
 */
import { linkKey } from '../../core/link.ts';
import type { CrossingReport } from '../../core/report.ts';
import { effectTable, type Effect, type HostReport } from '../../resources/index.ts';
import { aspectKey, aspectOf, isIrreversible } from './stage.ts';

/** The reports about one aspect of a resource while a command holds the resource. */
interface Crossing {
  readonly commandId: string;
  /** The last report before the present call of the host; holds if the host refuses that call. */
  earlier: unknown;
  /** The last report since the present call of the host. */
  later: unknown;
}

/**
 * Keeps the crossing reports of all commands in flight. One report for each aspect is enough, because each report gives
 * the whole of the aspect.
 *
 * @internal
 */
export class Crossings {
  readonly #byAspect = new Map<unknown, Crossing>();
  /** The aspects of each command, in the order of its calls. */
  readonly #aspects = new Map<string, Set<unknown>>();

  /** The host is called for an effect: reports from now on are newer than the effect. */
  begin(commandId: string, effect: Effect): void {
    if (isIrreversible(effect)) return;
    const aspect = aspectOf(effect);
    const before = this.#byAspect.get(aspect);
    this.#byAspect.set(aspect, { commandId, earlier: before?.later ?? before?.earlier, later: undefined });
    const own = this.#aspects.get(commandId);
    if (own === undefined) this.#aspects.set(commandId, new Set([aspect]));
    else own.add(aspect);
  }

  /** The host has applied the effect of the last call: earlier reports are out of date. */
  done(effect: Effect): void {
    const crossing = this.#byAspect.get(aspectOf(effect));
    if (crossing !== undefined) crossing.earlier = undefined;
  }

  /**
   * The host has applied an effect that undoes another one. No event says so, because the command has changed nothing.
   * The report that the effect amounts to corrects what a report in between may have changed in the snapshot.
   */
  undone(effect: Effect): void {
    const crossing = this.#byAspect.get(aspectOf(effect));
    if (crossing !== undefined) crossing.earlier = reportOf(effect);
  }

  /**
   * Holds a report, to fold the report once more after the settlement of the command in flight that holds or creates
   * the resource. Gives whether there is such a command.
   */
  hold({ link, aspect, report }: CrossingReport): boolean {
    if (this.#byAspect.size === 0) return false;
    const key = linkKey(link);
    const crossing =
      this.#byAspect.get(aspectKey(key, aspect)) ?? this.#byAspect.get(aspectKey(key, 'membership'));
    if (crossing !== undefined) crossing.later = report;
    return crossing !== undefined;
  }

  /** Gives the reports that hold after a settlement of a command, in order, and forgets them. */
  take(commandId: string): readonly unknown[] {
    const reports: unknown[] = [];
    for (const aspect of this.#aspects.get(commandId) ?? []) {
      const crossing = this.#byAspect.get(aspect);
      if (crossing?.commandId !== commandId) continue;
      this.#byAspect.delete(aspect);
      if (crossing.earlier !== undefined) reports.push(crossing.earlier);
      if (crossing.later !== undefined) reports.push(crossing.later);
    }
    this.#aspects.delete(commandId);
    return reports;
  }
}

function reportOf(effect: Effect): HostReport | undefined {
  const row = effectTable[effect.type] as { readonly confirms?: (effect: Effect) => HostReport };
  return row.confirms?.(effect);
}
