/**
 * What every gateway port has to do, as a list of audits that its author runs in whatever test framework there is.
 */
import {
  createSnapshot,
  EffectRefused,
  type Effect,
  type GatewayDocument,
  type GatewayPort,
} from '../../index.ts';
import { auditedEffectsOf, type AuditedEffect } from './audited-effect.ts';

/**
 * One thing that a gateway port has to do.
 *
 * @public
 */
export interface GatewayAudit {
  /** Names the audit: the type of the effect, and what is asked of it. It never changes. */
  readonly id: string;
  /** Says what a port does, in a sentence. */
  readonly name: string;
  /** Resolves when the port does it; rejects with an Error that says what it does instead. */
  run(this: void): Promise<void>;
}

/**
 * Gives the audits of a gateway port.
 *
 * They ask the port for the effects of transitions on the document: services and monitors are started and stopped,
 * settings are changed (a limit of a service, the maintenance of a server, the interval of a monitor, the value of a
 * parameter), sessions and connections are closed, the logs are flushed. Give a document with things of all kinds, two
 * of each where you can: a kind that the document does not have is not audited.
 *
 * A port may read settings from the snapshot whenever it needs them. Their updates are always in place then: leave out
 * the audits `<type>/before` of such a port.
 *
 * @param document - what the gateway has when it is opened
 * @param open - opens a gateway in that state; called once or more for each audit. A gateway with `Symbol.asyncDispose`
 *   is disposed of at the end of the audit
 * @returns the audits. The order does not matter
 * @throws {@link InvalidDocumentError} when the document is not valid
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
 * audits[0]?.name; // => 'service.stop is not in place before it is applied, however often that is asked'
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

/** One row of the table of laws. */
interface Law {
  readonly id: string;
  /** Goes on from the type of an effect. */
  readonly name: string;
  /** Whether the law is about an effect. */
  readonly covers: (audited: AuditedEffect, all: readonly AuditedEffect[]) => boolean;
  readonly check: (asked: Asked, all: readonly AuditedEffect[]) => Promise<void>;
}

const laws: readonly Law[] = [
  {
    id: 'before',
    name: 'is not in place before it is applied, however often that is asked',
    // Where nothing is pending, the logs are flushed already.
    covers: ({ effect }) => effect.type !== 'logs.flush',
    async check({ audited: { effect }, expect }) {
      await expect(effect, 'not-in-place', 'before anything was applied');
      await expect(effect, 'not-in-place', 'when it was only asked before');
    },
  },
  {
    id: 'after',
    name: 'is in place once it is applied',
    covers: () => true,
    async check({ audited: { effect, inverse }, apply, expect }) {
      await apply(effect);
      await expect(effect, 'in-place', 'after it was applied');
      if (inverse !== undefined) await expect(inverse, 'not-in-place', `after ${effect.type} was applied`);
    },
  },
  {
    id: 'undo',
    name: 'is no longer in place once its opposite is applied',
    covers: ({ inverse }) => inverse !== undefined,
    async check({ audited: { effect, inverse = effect }, apply, expect }) {
      await apply(effect);
      await apply(inverse);
      await expect(inverse, 'in-place', 'after it was applied to take the first back');
      await expect(effect, 'not-in-place', 'after it was taken back');
    },
  },
  {
    id: 'others',
    name: 'leaves other things alone',
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
    name: 'stays in place when other settings of the same thing are changed later',
    covers: ({ later }) => later !== undefined,
    async check({ audited: { effect, later = effect }, apply, expect }) {
      await apply(effect);
      await apply(later);
      await expect(effect, 'in-place', 'after other settings were changed as well');
      await expect(later, 'in-place', 'after it was applied to settings that had been changed');
    },
  },
  {
    id: 'gone',
    name: 'is in place for what is gone, and does not hit what has its id now',
    covers: ({ gone }) => gone !== undefined,
    async check({ audited: { effect, gone = effect }, apply, expect }) {
      await expect(gone, 'in-place', 'of a session with another connect time');
      await apply(gone);
      await expect(effect, 'not-in-place', 'after only one with another connect time was to be closed');
    },
  },
  {
    id: 'abort',
    name: 'tells the truth when its signal aborts meanwhile',
    covers: () => true,
    async check({ audited: { effect }, applyAborted, expect }) {
      const outcome = await applyAborted(effect);
      if (outcome === 'done') await expect(effect, 'in-place', 'when apply has resolved after an abort');
      if (outcome === 'refused') await expect(effect, 'not-in-place', 'when it was refused after an abort');
    },
  },
];

/** Another thing, which can be taken back: what is closed may belong to what was closed before. */
function isApart({ effect }: AuditedEffect, other: AuditedEffect): boolean {
  return other.inverse !== undefined && other.effect.resource !== effect.resource;
}

/** A gateway that is asked for things. */
interface Asked {
  readonly audited: AuditedEffect;
  readonly apply: (effect: Effect) => Promise<void>;
  /** Applies an effect, and aborts at once. */
  readonly applyAborted: (effect: Effect) => Promise<'done' | 'refused' | 'unclear'>;
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
  // A port that throws at once is treated as one that rejects.
  const call = async (effect: Effect, { signal }: AbortController): Promise<void> =>
    gateway.apply(effect, { commandId: commandOf(audited, effect), signal });
  return {
    audited,
    async apply(effect) {
      await call(effect, new AbortController()).catch((error: unknown) => {
        throw new Error(`${textOf(effect)} must be done, and is not: ${String(error)}`, { cause: error });
      });
    },
    async applyAborted(effect) {
      const deadline = new AbortController();
      const done = call(effect, deadline);
      deadline.abort(new Error('The deadline for the effect has passed'));
      return done.then(() => 'done', outcomeOf);
    },
    async expect(effect, answer, when) {
      const { signal } = new AbortController();
      const seen: unknown = await gateway.inspect(effect, {
        commandId: commandOf(audited, effect),
        signal,
      });
      if (seen === answer) return;
      throw new Error(`inspect must answer "${answer}" for ${textOf(effect)} ${when}, not "${String(seen)}"`);
    },
  };
}

/** An effect and its inverse belong to one command, every other effect to a command of its own. */
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
