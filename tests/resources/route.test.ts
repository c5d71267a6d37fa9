import { describe, expect, it } from '@jest/globals';

import { sampleSnapshot } from '../support/document.ts';
import { boundRoutes } from '../support/internal.ts';

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
