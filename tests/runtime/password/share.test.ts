import { describe, expect, it } from '@jest/globals';

import { shareOf } from '../../../src/runtime/password/share.ts';

const peerOf = (peer?: string): string =>
  shareOf({ method: 'GET', target: '/', headers: {}, ...(peer === undefined ? {} : { peer }) }).peer;

describe('the share of a request', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '::ffff:192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:DB8:0001:0002::1', '2001:db8:1:2'],
    ['2001:db8::1', '2001:db8:0:0'],
    ['::1', '0:0:0:0'],
    ['fe80::1%eth0', 'fe80:0:0:0'],
    ['an address of a pipe', 'an address of a pipe'],
    [undefined, ''],
    [{ toString: () => 'planted' } as unknown as string, ''],
  ])('counts the peer %s as %s', (peer, counted) => {
    expect(peerOf(peer)).toBe(counted);
  });

  it('counts a name in any case as one', () => {
    const request = { method: 'GET', target: '/', headers: {} };
    expect(shareOf(request, 'ADA')).toEqual(shareOf(request, 'ada'));
  });
});
