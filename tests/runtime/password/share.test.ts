import { describe, expect, it } from '@jest/globals';

import { shareOf } from '../../../src/runtime/password/share.ts';

const networksOf = (peer?: string): readonly string[] =>
  shareOf({ method: 'GET', target: '/', headers: {}, ...(peer === undefined ? {} : { peer }) }, 'ada')
    .networks;

describe('the share of a request', () => {
  it.each([
    ['192.0.2.1', ['192.0.2', '192.0.2.1']],
    ['::ffff:192.0.2.1', ['::ffff:192.0.2', '::ffff:192.0.2.1']],
    ['2001:db8:1:2:3:4:5:6', ['20010db8', '20010db80001', '20010db8000100', '20010db800010002']],
    ['2001:DB8:0001:0002::1', ['20010db8', '20010db80001', '20010db8000100', '20010db800010002']],
    ['2001:db8:1:ab02::1', ['20010db8', '20010db80001', '20010db80001ab', '20010db80001ab02']],
    ['2001:db8::1', ['20010db8', '20010db80000', '20010db8000000', '20010db800000000']],
    ['::1', ['00000000', '000000000000', '00000000000000', '0000000000000000']],
    ['fe80::1%eth0', ['fe800000', 'fe8000000000', 'fe800000000000', 'fe80000000000000']],
    ['2001:db8::192.0.2.1', ['2001:db8::192.0.2.1']],
    ['an address of a pipe', ['an address of a pipe']],
    ['x'.repeat(300), ['x'.repeat(255)]],
    [undefined, ['']],
  ])('counts the peer %s as %j', (peer, counted) => {
    expect(networksOf(peer)).toEqual(counted);
  });

  it('counts a name in any case as one', () => {
    const request = { method: 'GET', target: '/', headers: {} };
    expect(shareOf(request, 'ADA')).toEqual(shareOf(request, 'ada'));
  });
});
