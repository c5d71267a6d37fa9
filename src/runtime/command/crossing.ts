/**
 * Crossing reports: reports of a state that arrive while the host carries out an effect on the same aspect.
 *
 * Such a report is newer than the effect, but arrives before the event of the effect is folded. So the report is folded
 * twice: on arrival, and once more after the command has settled. Without that, a service that fails while its start
 * settles would be shown as started until the host reports again.
 */
import { linkKey } from '../../core/link.ts';
import type { CrossingReport } from '../../core/report.ts';
import { sameJson, type Json, type JsonObject } from '../../json/value.ts';
import { effectTable, type Effect } from '../../resources/index.ts';
import { aspectKey, aspectOf, isIrreversible } from './stage.ts';

/** The reports about one aspect of a resource while a command holds the resource. */
interface Crossing {
  readonly commandId: string;
  /** What was reported before `later`. Of the time before the present call, it holds if the host refuses that call. */
  earlier: JsonObject | undefined;
  /** What was reported last, since the present call of the host. */
  later: JsonObject | undefined;
}

/**
 * Keeps the crossing reports of all commands in flight. The last two that differ are enough for each aspect: a report
 * gives the whole of the aspect, but for a reason, which holds until something else is reported.
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
  appliedWithoutEvent(effect: Effect): void {
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
    if (crossing === undefined) return false;
    const { earlier, later } = crossing;
    if (!isRepeated(later ?? earlier, report)) crossing.earlier = later ?? earlier;
    crossing.later = isRepeated(later, report) ? { ...later, ...report } : report;
    return true;
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

/** Whether a report says again what an earlier one has said. A repeated report need not give the reason again. */
function isRepeated(one: JsonObject | undefined, other: JsonObject): boolean {
  return one !== undefined && sameJson(withoutReason(one), withoutReason(other));
}

function withoutReason({ reason: _reason, started: _started, ...rest }: JsonObject): Json {
  return rest;
}

function reportOf(effect: Effect): JsonObject | undefined {
  const row = effectTable[effect.type] as { readonly confirms?: (effect: Effect) => JsonObject };
  return row.confirms?.(effect);
}
