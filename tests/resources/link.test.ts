/**
 * Links: what a link names, and on which link each command waits.
 */
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { createSnapshot, linkTo, nameKey, resolveLink, type Snapshot } from 'gateway-admin-core';

import { documents } from '../support/arbitrary-document.ts';
import { crowdedSnapshot, sampleSnapshot } from '../support/document.ts';
import { boundRoutes } from '../support/internal.ts';

type LinkedResource = NonNullable<ReturnType<typeof resolveLink>>;

const kinds = {
  services: 'service',
  servers: 'server',
  monitors: 'monitor',
  filters: 'filter',
  users: 'user',
} as const;

/** Every resource of a snapshot, with its collection and its name. */
function resourcesOf(snapshot: Snapshot): readonly (readonly [string, string | number, LinkedResource])[] {
  const named = (Object.keys(kinds) as (keyof typeof kinds)[]).flatMap((collection) => {
    const kind = kinds[collection];
    return [...snapshot[collection]].map(
      (entity) => [collection, entity.name, { kind, [kind]: entity } as unknown as LinkedResource] as const,
    );
  });
  const sessions = [...snapshot.sessions].map(
    (session) => ['sessions', session.id, { kind: 'session', session }] as const,
  );
  return [...named, ...sessions];
}

describe('resolveLink', () => {
  it('finds every resource of a snapshot by its link, in any spelling of the name', () => {
    const seen = new Set<string>();
    const expectAll = (snapshot: Snapshot): void => {
      for (const [collection, name, resource] of resourcesOf(snapshot)) {
        seen.add(resource.kind);
        const spellings = [linkTo(collection, name), `/${collection}/${encodeURIComponent(name)}`];
        const key = typeof name === 'string' ? linkTo(collection, nameKey(name)) : [];
        for (const link of spellings.concat(key)) expect(resolveLink(snapshot, link)).toEqual(resource);
      }
    };
    expectAll(sampleSnapshot());
    expect(seen).toEqual(new Set([...Object.values(kinds), 'session']));
    fc.assert(
      fc.property(documents, (document) => expectAll(createSnapshot(document))),
      { numRuns: 30 },
    );
  });

  it('gives the object of the snapshot itself', () => {
    const snapshot = sampleSnapshot();
    const found = resolveLink(snapshot, '/services/my-service');
    expect(found?.kind === 'service' && found.service).toBe(snapshot.services.find('My Service'));
  });

  it.each([
    '',
    '/',
    '/services',
    '/services/',
    '/services/Nothing',
    '/services/My-Service/',
    '/services/My-Service/sessions',
    '/services/My-Service?fields=name',
    '/Services/My-Service',
    '/service/My-Service',
    '/services/%E0%A4%A',
    '/services/..',
    'services/My-Service',
    'http://localhost/services/My-Service',
    '/gateway/logs',
    '/toString/name',
    '/__proto__/name',
    '/sessions/09',
    '/sessions/x',
    '/sessions/9007199254740993',
    '/sessions/99',
    `/services/${'x'.repeat(5000)}`,
  ])('finds nothing at %s', (link) => {
    expect(resolveLink(sampleSnapshot(), link)).toBeUndefined();
  });

  it('finds a session among many by its id', () => {
    const found = resolveLink(crowdedSnapshot(3000), '/sessions/2999');
    expect(found).toMatchObject({ kind: 'session', session: { id: 2999, service: 'sales' } });
  });

  it('throws for a snapshot that is none, and a link that is no string', () => {
    expect(() => resolveLink({ ...sampleSnapshot() }, '/services/x')).toThrow(
      'must come from createSnapshot',
    );
    expect(() => resolveLink(sampleSnapshot(), 7 as never)).toThrow(TypeError);
  });
});

/** By the id of a route, or its first part: a resource of the sample, and the link on which commands wait. */
const resources: Readonly<Record<string, readonly [subject: string, link: string]>> = {
  gateway: ['', '/gateway/logs'],
  services: ['MY SERVICE', '/services/My-Service'],
  // A service has its listeners: what changes the list waits for other changes of the service.
  'services.createListener': ['MY SERVICE', '/services/My-Service'],
  'services.deleteListener': ['MY SERVICE', '/services/My-Service/listeners/Secure-Listener'],
  servers: ['DB-SERV-1', '/servers/db-serv-1'],
  monitors: ['main monitor', '/monitors/Main-Monitor'],
  filters: ['hint', '/filters/Hint'],
  sessions: ['9', '/sessions/9'],
  'sessions.closeMany': ['', '/sessions'],
  // Nothing has a tag.
  history: ['sample-1', '/history'],
  // All users are one resource.
  users: ['ADA', '/users'],
  interface: ['', '/'],
};

const commands = boundRoutes.flatMap((route) => {
  const [collection = ''] = route.id.split('.');
  const [subject, link] = resources[route.id] ?? resources[collection] ?? [];
  if (route.kind !== 'command' || !('find' in route)) return [];
  // A creation waits for every other one: each changes the list.
  return [
    {
      id: route.id,
      route,
      subject,
      link: route.id.endsWith('.create') && route.method === 'POST' ? route.path : link,
    },
  ];
});

describe('the link of a command', () => {
  // A command whose condition fails rests on this link: a command in flight there may still change the answer.
  it.each(commands)('$id is $link, in any spelling of the name', ({ route, subject, link }) => {
    const found = route.find(sampleSnapshot(), {
      name: subject ?? '',
      id: subject ?? '',
      listener: 'SECURE LISTENER',
    });
    if (!found.ok) throw new Error(found.problem.detail);
    expect(route.link(found.value)).toBe(link);
  });
});
