/**
 * Mistakes of users, and what the compiler says of them: the message must name what is wrong.
 */
import { beforeAll, describe, expect, it } from '@jest/globals';

import { buildPackage } from '../support/built-package.ts';
import { compile, userOptions } from '../support/compiler.ts';

/** What the programs use. */
const prelude = `
import {
  createAdmin, createSnapshot, drain, metricsOf, patchService, startService, stopService,
  type Admin, type GatewayDocument, type GatewayPort, type Operation, type Snapshot,
} from 'gateway-admin-core';
import type { Client } from 'gateway-admin-core/client';
import { createFetchHandler } from 'gateway-admin-core/fetch';
import { createNodeHandler } from 'gateway-admin-core/node';
import { createServer } from 'node:http';

declare const admin: Admin;
declare const client: Client;
declare const document: GatewayDocument;
declare const gateway: GatewayPort;
declare const snapshot: Snapshot;
declare const path: string;
const { apply, inspect } = gateway;
const context = { now: 0 };
`;

/** A mistake, and what the message must contain. */
const mistakes: readonly (readonly [mistake: string, ...says: string[]])[] = [
  // A document in the place of a snapshot.
  ['createAdmin({ snapshot: document, gateway });', `'GatewayDocument'`, `'Snapshot': [fromCreateSnapshot]`],
  ['stopService(document, "Sales", context);', `'GatewayDocument'`, `'Snapshot': [fromCreateSnapshot]`],
  ['const empty = {}; createAdmin({ snapshot: empty, gateway });', `'Snapshot': [fromCreateSnapshot]`],
  ['createAdmin({ snapshot: JSON.stringify(snapshot), gateway });', `'string'`, `'Snapshot'`],
  // Operations without `as const`, and wrong ones.
  [
    'const limit = [{ op: "add", path: "/user", value: 1 }]; patchService(snapshot, "Sales", limit, context);',
    `'readonly Operation[]'`,
    `Types of property 'op' are incompatible`,
    'replace',
  ],
  [
    'const limit = [{ op: "replace", path: "/user", value: 1 }]; client.services.patch("Sales", limit);',
    `'readonly Operation[]'`,
    `Types of property 'op' are incompatible`,
    'replace',
  ],
  ['client.services.patch("Sales", [{ op: "change", path: "/user" }]);', `'"change"'`, '"replace"'],
  ['client.services.patch("Sales", [{ op: "add", path: "/user" }]);', `Property 'value' is missing`],
  // A plan that may be a refusal.
  [
    'const plan = admin.plan(() => stopService(snapshot, "Sales", context)); plan.mark;',
    `Property 'mark' does not exist on type 'PlanRefusal'`,
  ],
  // Rules that must answer at once.
  [
    'createAdmin({ snapshot, gateway, veto: async () => undefined });',
    `'Veto'`,
    `'Promise<undefined>'`,
    `'Problem<AnyProblemCode>'`,
  ],
  ['createAdmin({ snapshot, gateway, foresee: async () => [] });', `'Foresee'`, `'readonly Note[]'`],
  [
    'createAdmin({ snapshot, gateway, access: { authorize: async () => true } });',
    `'Authorize'`,
    `'Promise<boolean>'`,
  ],
  // One of create and delete.
  [
    'createAdmin({ snapshot, gateway: { apply, inspect, supports: ["create"] } });',
    '["create", "delete", ..."drain"[]]',
  ],
  [
    'createAdmin({ snapshot, gateway: { apply, inspect, supports: ["drain", "delete"] } });',
    `'"drain"' is not assignable to type '"create"'`,
  ],
  // Half a deadline.
  ['drain(snapshot, "services", "Sales", { timeout: 600 }, context);', `'then' is missing`, 'WithDeadline'],
  ['drain(snapshot, "servers", "db", { then: "close" }, context);', `'timeout' is missing`, 'WithDeadline'],
  ['client.services.drain("Sales", { timeout: 600 });', `'then' is missing`, 'WithDeadline'],
  ['client.servers.drain("db", { then: "resume" });', `'timeout' is missing`, 'WithDeadline'],
  ['client.servers.drain.plan("db", { timeout: 600 });', `'then' is missing`, 'WithDeadline'],
  // A base path without its slash.
  ['createNodeHandler(admin, { basePath: "console" });', `'"console"'`, "'`/${string}`'"],
  ['createFetchHandler(admin, { basePath: "console" });', `'"console"'`, "'`/${string}`'"],
];

/** Programs without a mistake. */
const right: readonly string[] = [
  'createAdmin({ snapshot: createSnapshot(document), gateway });',
  'createAdmin({ snapshot: stopService(snapshot, "Sales", context).next, gateway });',
  'patchService(snapshot, "Sales", [{ op: "add", path: "/user", value: "app" }], context);',
  'const limit: Operation[] = [{ op: "remove", path: "/user" }]; client.services.patch("Sales", limit);',
  'const limit = [{ op: "remove", path: "/user" }] as const; client.services.patch("Sales", limit);',
  `const start = () => startService(snapshot, "Sales", context);
   const plan = admin.plan(start);
   if (plan.outcome !== "refused") admin.execute(start, { mark: plan.mark });`,
  'createAdmin({ snapshot, gateway, veto: () => undefined });',
  'createAdmin({ snapshot, gateway: { apply, inspect, supports: [] } });',
  'createAdmin({ snapshot, gateway: { apply, inspect, supports: ["drain"] } });',
  'createAdmin({ snapshot, gateway: { apply, inspect, supports: ["create", "delete"] } });',
  'createAdmin({ snapshot, gateway: { apply, inspect, supports: ["create", "delete", "drain"] } });',
  'drain(snapshot, "services", "Sales", {}, context);',
  'drain(snapshot, "services", "Sales", { timeout: 600, then: "close", reason: "upgrade" }, context);',
  'client.servers.drain("db", { reason: "upgrade" }, { mark: "m", prefer: "representation" });',
  'client.servers.drain("db", { timeout: 600, then: "resume" });',
  'createNodeHandler(admin, { basePath: "/" }); createFetchHandler(admin, { basePath: `/${path}` });',
  `createServer(async ({ method = "", headers }, response) => {
     const request = { method, target: "/metrics", headers };
     const { admitted } = await admin.guard(request, "reader");
     if (admitted) await admin.audit.record({ request, outcome: "accepted" });
     response.end(metricsOf(admin));
   });`,
];

const programs = [...mistakes.map(([mistake]) => mistake), ...right];
let said: ReadonlyMap<string, readonly string[]>;

beforeAll(() => {
  buildPackage();
  const texts = new Map(programs.map((text, at) => [`tests/mistake-${String(at)}.ts`, prelude + text]));
  const found = [...compile(texts, userOptions()).values()];
  said = new Map(programs.map((text, at) => [text, (found[at] ?? []).map(({ message }) => message)]));
});

describe('the compiler', () => {
  it.each(mistakes)('says of %s what is wrong', (mistake, ...says) => {
    const messages = said.get(mistake) ?? [];
    expect(messages).toHaveLength(1);
    for (const part of says) expect(messages[0]).toContain(part);
  });

  it.each(right)('takes %s', (program) => {
    expect(said.get(program)).toEqual([]);
  });
});
