/**
 * No mark depends on a secret: two worlds that differ in the values of secrets alone make the same plans with the same
 * marks, whatever command has the secret, and whatever is undone or restored later.
 */
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import {
  adoptDocument,
  changePassword,
  createListener,
  createResource,
  createSecretSealer,
  createSnapshot,
  createUser,
  patchFilter,
  patchMonitor,
  patchServer,
  patchService,
  redactSecrets,
  sequence,
  toDocument,
  type Admin,
  type Json,
  type Operation,
  type Transition,
} from 'gateway-admin-core';

import { runAdmin } from '../support/running-admin.ts';
import { transports, type Transport } from '../support/transport.ts';

const json = { 'content-type': 'application/json' };

/** A command with a secret: as a request with a plain text, and as a program has it, with a sealed text or a hash. */
interface Carrier {
  readonly request: (secret: string) => {
    readonly method: string;
    readonly path: string;
    readonly body: Json;
  };
  readonly transition: (sealed: string) => Transition;
}

const patches = {
  services: ['My Service', patchService],
  servers: ['db-serv-1', patchServer],
  monitors: ['Main Monitor', patchMonitor],
  filters: ['Hint', patchFilter],
} as const;

function patch(collection: keyof typeof patches, operationOf: (secret: Json) => Json): Carrier {
  const [name, patched] = patches[collection];
  const path = `/${collection}/${name.replaceAll(' ', '-')}`;
  return {
    request: (secret) => ({ method: 'PATCH', path, body: [operationOf(secret)] }),
    transition: (sealed) => (snapshot, context) =>
      patched(snapshot, name, [operationOf({ sealed }) as Operation], context),
  };
}

const source = { value: '127.0.0.1', configurable: false };
const ofFilter = (value: Json): Json => ({ value, configurable: true });
const listener = { name: 'New', protocol: 'p', address: '::', port: 4011 };

/** A definition with every secret that the kind has: in plain text as in a request, or sealed as in a document. */
const definitions = {
  services: (password: Json) => ({
    ...{ name: 'New', router: 'cli', password, router_options: { weights: 'on', PassWord: password } },
    listeners: [{ ...listener, parameters: { password } }],
  }),
  servers: (password: Json) => ({ ...listener, parameters: { password } }),
  monitors: (password: Json) => ({ name: 'New', module: 'pgmon', parameters: { password } }),
  filters: (value: Json) => ({ name: 'New', module: 'tee', parameters: { password: ofFilter(value) } }),
} as const;

function creation(collection: keyof typeof definitions): Carrier {
  const { [collection]: define } = definitions;
  return {
    request: (secret) => ({ method: 'POST', path: `/${collection}`, body: define(secret) }),
    transition: (sealed) => (snapshot, context) =>
      createResource(snapshot, collection, define({ sealed }) as never, context),
  };
}

const carriers: readonly Carrier[] = [
  patch('services', (value) => ({ op: 'replace', path: '/password', value })),
  patch('services', (value) => ({ op: 'add', path: '/router_options/PassWord', value })),
  patch('services', (password) => ({ op: 'add', path: '/router_options', value: { open: 'x', password } })),
  patch('services', () => ({ op: 'remove', path: '/password' })),
  patch('services', () => ({ op: 'remove', path: '/router_options/password' })),
  patch('servers', (value) => ({ op: 'add', path: '/parameters/pin', value })),
  patch('servers', (pin) => ({ op: 'replace', path: '/parameters', value: { pin } })),
  patch('monitors', (value) => ({ op: 'add', path: '/parameters/password', value })),
  patch('filters', (secret) => ({ op: 'add', path: '/parameters/password', value: ofFilter(secret) })),
  patch('filters', (pin) => ({ op: 'replace', path: '/parameters', value: { source, pin: ofFilter(pin) } })),
  ...(['services', 'servers', 'monitors', 'filters'] as const).map(creation),
  {
    request: (password) => ({
      ...{ method: 'POST', path: '/services/My-Service/listeners' },
      body: { ...listener, parameters: { password } },
    }),
    transition: (sealed) => (snapshot, context) =>
      createListener(snapshot, 'My Service', { ...listener, parameters: { password: { sealed } } }, context),
  },
  {
    request: (password) => ({ method: 'POST', path: '/users', body: { name: 'eve', password } }),
    transition: (sealed) => (snapshot, context) =>
      createUser(snapshot, { name: 'eve', password: { sealed } }, context),
  },
  {
    request: (value) => ({
      ...{ method: 'PATCH', path: '/users/ada' },
      body: [{ op: 'replace', path: '/password', value }],
    }),
    transition: (hash) => (snapshot, context) => changePassword(snapshot, 'ada', { sealed: hash }, context),
  },
];

/** Some carriers, as one command with the same secret. */
interface Step {
  readonly carriers: readonly Carrier[];
  readonly by: 'request' | 'program' | 'document';
  /** What the secret is in each world. */
  readonly secrets: readonly [string, string];
}

/** Also what the library writes in the place of a secret, and what stands in the open elsewhere. */
const secrets = fc.oneof(
  fc.constantFrom('planned', 'select', 'correct horse'),
  fc.string({ minLength: 8, maxLength: 20 }),
);

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.record({
    carriers: fc.array(fc.constantFrom(...carriers), { minLength: 1, maxLength: 3 }),
    by: fc.constantFrom('request', 'request', 'program', 'program', 'document'),
    secrets: fc.tuple(secrets, secrets),
  }),
  { minLength: 1, maxLength: 4 },
);

interface World {
  readonly admin: Admin;
  readonly transport: Transport;
}

async function openWorld(): Promise<World> {
  const { admin } = runAdmin({ sealer: createSecretSealer(), secretParameters: ['password', 'pin'] });
  return { admin, transport: await transports.core(admin) };
}

/** A step in a world: its plan as a client sees it, and how it is made with a mark; says whether that was done. */
interface Making {
  readonly plan: { readonly mark?: string };
  readonly make: (mark: string) => Promise<boolean>;
}

async function planIn(
  { admin, transport }: World,
  { carriers: some, by }: Step,
  secret: string,
): Promise<Making> {
  if (by !== 'request') {
    // No two sealings give one text.
    const sealed = `v1.${String(admin.snapshot.revision)}.${secret}`;
    const transition =
      by === 'document' ? adoption(sealed) : sequence(...some.map((each) => each.transition(sealed)));
    return {
      plan: redactSecrets(admin.plan(transition)) as Making['plan'],
      make: async (mark) => (await admin.execute(transition, { mark })).outcome !== 'refused',
    };
  }
  const commands = some.map((each) => each.request(secret));
  const [first] = commands;
  const { method, path, body } =
    commands.length === 1 && first !== undefined
      ? first
      : { method: 'POST', path: '/sequence', body: { commands } };
  const sent = { headers: json, body: JSON.stringify(body) };
  return {
    plan: (await transport.send(method, `${path}?dry_run=true`, sent)).body as Making['plan'],
    make: async (mark) => (await transport.send(method, `${path}?mark=${mark}`, sent)).status < 300,
  };
}

/** Adopts the document of now with another text in the place of everything that is sealed. */
function adoption(sealed: string): Transition {
  return (snapshot, context) => {
    const text = JSON.stringify(toDocument(snapshot)).replaceAll(/"v1\.(?:[^"\\]|\\.)*"/g, () =>
      JSON.stringify(sealed),
    );
    return adoptDocument(snapshot, createSnapshot(JSON.parse(text) as object), context);
  };
}

/** The plans of the ways back: an undo of the newest entry, and a restore of the oldest. */
async function waysBack({ transport: { send } }: World): Promise<readonly Making['plan'][]> {
  const entries = (await send('GET', '/history')).body as readonly { readonly id: string }[];
  const ways =
    entries.length === 0 ? [] : [`${entries[0]?.id ?? ''}/undo`, `${entries.at(-1)?.id ?? ''}/restore`];
  return Promise.all(
    ways.map(async (way) => (await send('PUT', `/history/${way}?dry_run=true`)).body as Making['plan']),
  );
}

describe('a mark', () => {
  // Promise: mark-secret
  it('depends on no secret: worlds that differ in secrets alone have the same plans with the same marks', async () => {
    const met = { runs: 0, request: 0, program: 0, document: 0, back: 0 };
    await fc.assert(
      fc.asyncProperty(steps, async (list) => {
        met.runs += 1;
        const [one, other] = [await openWorld(), await openWorld()];
        for (const step of list) {
          const makings = [
            await planIn(one, step, step.secrets[0]),
            await planIn(other, step, step.secrets[1]),
          ] as const;
          const { plan } = makings[0];
          expect(makings[1].plan).toEqual(plan);
          if (plan.mark === undefined) continue;
          met[step.by] += 1;
          for (const { make } of makings) expect(await make(plan.mark)).toBe(true);
          const back = await waysBack(one);
          expect(await waysBack(other)).toEqual(back);
          met.back += back.filter(({ mark }) => mark !== undefined).length;
        }
      }),
      { numRuns: 40 },
    );
    expect(met.request).toBeGreaterThan(0.1 * met.runs);
    expect(met.program).toBeGreaterThan(0.3 * met.runs);
    expect(met.document).toBeGreaterThan(0.15 * met.runs);
    expect(met.back).toBeGreaterThan(met.runs);
  });
});
