import { describe, expect, it } from '@jest/globals';
import { routes } from 'gateway-admin-core';
import { acts, nameToType, subjectOfSearch, type ActId } from 'gateway-admin-core/client';

const ids = Object.keys(acts) as ActId[];

describe('the table of acts', () => {
  it('has a row for each endpoint that makes a change, and one for the read-only mode', () => {
    const commands = routes.flatMap(({ id, kind }) => (kind === 'command' ? [id] : []));
    expect(ids.toSorted()).toEqual([...commands, 'interface.hold'].toSorted());
  });

  it.each(ids)('wants a name typed before %s: for what goes away that of the subject', (id) => {
    const isFree = ['interface.hold', 'services.resume', 'servers.resume'].includes(id);
    const isOfSubject = /\.(?:close|delete|stop|drain|forget)/.test(id);
    expect(acts[id].typed).toBe(isFree ? 'nothing' : isOfSubject ? 'subject' : 'gateway');
    const place = { subject: 'Sales', gateway: 'eu-1', environment: 'production' };
    expect(nameToType(id, place)).toBe(isFree ? undefined : isOfSubject ? 'Sales' : 'eu-1');
    expect(nameToType(id, { ...place, subject: undefined })).toBe(isFree ? undefined : 'eu-1');
    for (const environment of ['staging', 'Production', undefined])
      expect(nameToType(id, { ...place, environment })).toBeUndefined();
  });

  it('names what a search for sessions is about: first the service', () => {
    const search = { service: 'Sales', server: 'db-1', user: 'app', address: '::1', idle_over: 9 };
    const { service, ...fromServer } = search;
    const { server, ...fromUser } = fromServer;
    const { user, ...fromAddress } = fromUser;
    const { address, ...rest } = fromAddress;
    expect([search, fromServer, fromUser, fromAddress, rest].map(subjectOfSearch)).toEqual([
      ...[service, server, user, address],
      undefined,
    ]);
  });
});
