/**
 * The requirements for every gateway port, as a list of audits. The author of a port runs the audits in any test
 * framework.
 */
import {
  createSnapshot,
  EffectRefused,
  systemClock,
  type Effect,
  type GatewayDocument,
  type GatewayPort,
} from '../../index.ts';
import { auditedEffectsOf, type AuditedEffect } from './audited-effect.ts';

/**
 * One requirement for a gateway port.
 *
 * @public
 */
export interface GatewayAudit {
  /** The id of the audit: the type of the effect, and the requirement. An id never changes. */
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
 * a parameter), close sessions and connections, and flush the logs. Give a document with at least two resources of
 * every kind: a kind that the document lacks is not audited.
 *
 * A port may read settings from the snapshot at each use. The updates of these settings are then always in place: leave
 * out the audits `<type>/before` for such a port.
 *
 * @param document - the initial state of the gateway
 * @param open - opens a gateway in that state; called at least once for each audit. A gateway with
 *   `Symbol.asyncDispose` is disposed of at the end of the audit
 * @returns the audits, which may run in any order
 * @throws {@link InvalidDocumentError} if the document is invalid
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
 * @public
 */
export function gatewayAudits(
  document: GatewayDocument,
  open: () => Promise<GatewayPort & Partial<AsyncDisposable>>,
): readonly GatewayAudit[] {
  const all = auditedEffectsOf(createSnapshot(document));
  const types = [...new Set(all.map(({ effect }) => effect.type))];
  return types.flatMap((type) =>
    laws.flatMap(({ id, name, check, covers }): readonly GatewayAudit[] => {
      const covered = all.filter((audited) => audited.effect.type === type && covers(audited, all));
      if (covered.length === 0) return [];
      const run = async (): Promise<void> => {
        for (const audited of covered) await withGateway(open, audited, (asked) => check(asked, all));
      };
      return [{ id: `${type}/${id}`, name: `${type} ${name}`, run }];
    }),
  );
}

/** One row of the table of audits. */
interface Law {
  readonly id: string;
  /** The rest of the sentence that begins with the type of an effect. */
  readonly name: string;
  /** Whether the audit applies to an effect. */
  readonly covers: (audited: AuditedEffect, all: readonly AuditedEffect[]) => boolean;
  readonly check: (asked: Asked, all: readonly AuditedEffect[]) => Promise<void>;
}

const laws: readonly Law[] = [
  {
    id: 'before',
    name: 'is not in place before apply, however often inspect is called',
    // If no log entry is pending, the logs are already flushed.
    covers: ({ effect }) => effect.type !== 'logs.flush',
    async check({ audited: { effect }, expect }) {
      await expect(effect, 'not-in-place', 'before any effect was applied');
      await expect(effect, 'not-in-place', 'after a call of inspect alone');
    },
  },
  {
    id: 'after',
    name: 'is in place after apply',
    covers: () => true,
    async check({ audited: { effect, inverse }, apply, expect }) {
      await apply(effect);
      await expect(effect, 'in-place', 'after apply');
      if (inverse !== undefined) await expect(inverse, 'not-in-place', `after ${effect.type} was applied`);
    },
  },
  {
    id: 'undo',
    name: 'is no longer in place after the inverse effect was applied',
    covers: ({ inverse }) => inverse !== undefined,
    async check({ audited: { effect, inverse = effect }, apply, expect }) {
      await apply(effect);
      await apply(inverse);
      await expect(inverse, 'in-place', 'after this undo was applied');
      await expect(effect, 'not-in-place', 'after the effect was undone');
    },
  },
  {
    id: 'others',
    name: 'does not change other resources',
    covers: (audited, all) => all.some((other) => isApart(audited, other)),
    async check({ audited, apply, expect }, all) {
      await apply(audited.effect);
      for (const other of all) {
        if (isApart(audited, other))
          await expect(other.effect, 'not-in-place', `after ${textOf(audited.effect)}`);
      }
    },
  },
  {
    id: 'later',
    name: 'stays in place after a later change of other settings of the resource',
    covers: ({ later }) => later !== undefined,
    async check({ audited: { effect, later = effect }, apply, expect }) {
      await apply(effect);
      await apply(later);
      await expect(effect, 'in-place', 'after a later change of other settings');
      await expect(later, 'in-place', 'after an earlier change of other settings');
    },
  },
  {
    id: 'gone',
    name: 'is in place for a closed session, and does not close a later session with the same id',
    covers: ({ gone }) => gone !== undefined,
    async check({ audited: { effect, gone = effect }, apply, expect }) {
      await expect(gone, 'in-place', 'of a session with another connect time');
      await apply(gone);
      await expect(effect, 'not-in-place', 'after an effect on a session with another connect time');
    },
  },
  {
    id: 'abort',
    name: 'gets a true answer if its signal aborts during apply',
    covers: () => true,
    async check({ audited: { effect }, applyAborted, expect }) {
      const outcome = await applyAborted(effect);
      if (outcome === 'done') await expect(effect, 'in-place', 'after apply resolved in spite of the abort');
      if (outcome === 'refused')
        await expect(effect, 'not-in-place', 'after apply refused because of the abort');
    },
  },
  {
    id: 'final',
    name: 'stays out of place once inspect has answered not-in-place after an aborted apply',
    covers: () => true,
    async check({ audited: { effect }, applyAborted, answerOf, expect }) {
      await applyAborted(effect);
      if ((await answerOf(effect)) !== 'not-in-place') return;
      // The request of the aborted call must not arrive any more: the client was told that nothing has changed.
      for (let look = 0; look < laterLooks; look += 1) {
        await systemClock.sleep(lookPauseMs);
        await expect(effect, 'not-in-place', 'after inspect had answered so, and apply had ended');
      }
    },
  },
];

const laterLooks = 10;
const lookPauseMs = 10;
/** The longest pause before `inspect` is asked again because it has rejected. The pauses double. */
const longestPauseMs = 320;

/** Whether another effect is on another resource. Closing effects do not count: both may close the same session. */
function isApart({ effect }: AuditedEffect, other: AuditedEffect): boolean {
  return other.inverse !== undefined && other.effect.resource !== effect.resource;
}

/** An effect under audit, with the calls of the gateway that a check needs. */
interface Asked {
  readonly audited: AuditedEffect;
  readonly apply: (effect: Effect) => Promise<void>;
  /** Applies an effect, and aborts the signal during the call. */
  readonly applyAborted: (effect: Effect) => Promise<'done' | 'refused' | 'unclear'>;
  /** Asks `inspect` until it answers; `undefined` if it rejects for too long. */
  readonly answerOf: (effect: Effect) => Promise<unknown>;
  readonly expect: (effect: Effect, answer: 'in-place' | 'not-in-place', when: string) => Promise<void>;
}

async function withGateway(
  open: () => Promise<GatewayPort & Partial<AsyncDisposable>>,
  audited: AuditedEffect,
  check: (asked: Asked) => Promise<void>,
): Promise<void> {
  const gateway = await open();
  try {
    await check(ask(gateway, audited));
  } finally {
    await gateway[Symbol.asyncDispose]?.();
  }
}

function ask(gateway: GatewayPort, audited: AuditedEffect): Asked {
  // An async function, so that an error thrown by the port becomes a rejection.
  const call = async (effect: Effect, { signal }: AbortController): Promise<void> =>
    gateway.apply(effect, { commandId: commandOf(audited, effect), signal });
  const inspect = async (effect: Effect): Promise<unknown> =>
    gateway.inspect(effect, {
      commandId: commandOf(audited, effect),
      signal: new AbortController().signal,
    });
  return {
    audited,
    async apply(effect) {
      await call(effect, new AbortController()).catch((error: unknown) => {
        throw new Error(`apply must resolve for ${textOf(effect)}, but failed: ${String(error)}`, {
          cause: error,
        });
      });
    },
    async applyAborted(effect) {
      const deadline = new AbortController();
      const done = call(effect, deadline);
      deadline.abort(new Error('The deadline for the effect has passed'));
      return done.then(() => 'done', outcomeOf);
    },
    async answerOf(effect) {
      for (let pauseMs = lookPauseMs; pauseMs <= longestPauseMs; pauseMs *= 2) {
        try {
          return await inspect(effect);
        } catch {
          await systemClock.sleep(pauseMs);
        }
      }
      return undefined;
    },
    async expect(effect, answer, when) {
      const seen = await inspect(effect);
      if (seen === answer) return;
      throw new Error(`inspect must answer "${answer}" for ${textOf(effect)} ${when}, not "${String(seen)}"`);
    },
  };
}

/** The id of the command of an effect. An effect and its inverse share a command; every other effect has its own. */
function commandOf({ effect, inverse }: AuditedEffect, asked: Effect): string {
  return `audit of ${textOf(asked === inverse ? effect : asked)}`;
}

function outcomeOf(error: unknown): 'refused' | 'unclear' {
  return error instanceof EffectRefused || (error instanceof Error && error.name === 'EffectRefused')
    ? 'refused'
    : 'unclear';
}

function textOf({ type, resource }: Effect): string {
  return `${type} of ${resource}`;
}
