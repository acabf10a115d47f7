import { describe, expect, it } from 'vitest';
import {
  canonicalRange,
  compileRanges,
  isAddress,
  isPublicAddress,
  networkOf,
  subscriberOf,
  unmapped,
} from './addresses.ts';

describe('the canonical form', () => {
  it.each([
    ['203.0.113.0/24', '203.0.113.0/24'],
    ['203.0.113.77/24', '203.0.113.0/24'],
    ['203.0.113.7', '203.0.113.7/32'],
    ['10.255.255.255/9', '10.128.0.0/9'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['2001:DB8::1/32', '2001:db8::/32'],
    ['2001:db8::1', '2001:db8::1/128'],
    ['2001:db8:ffff::/33', '2001:db8:8000::/33'],
    ['::/0', '::/0'],
    ['::ffff:10.0.0.1', '10.0.0.1/32'],
    ['::ffff:10.1.2.3/104', '10.0.0.0/8'],
    ['0:0:0:0:0:FFFF:a01:203/104', '10.0.0.0/8'],
    ['::ffff:0:0/96', '0.0.0.0/0'],
  ])('of %s is %s', (text, canonical) => {
    expect(canonicalRange(text)).toBe(canonical);
    expect(canonicalRange(canonical)).toBe(canonical);
  });

  it.each([
    '',
    '/8',
    'localhost',
    '10.0.0.0/33',
    '10.0.0.0/-1',
    '10.0.0.0/',
    '10.0.0.0/08',
    '10.0.0/24',
    '010.0.0.1',
    '10.0.0.1 ',
    '0x0a000001',
    'fe80::1%eth0',
    'fe80::1%eth0/64',
    '2001:db8::/129',
    '10.0.0.0/8/8',
  ])('does not exist of %j', (text) => {
    expect(canonicalRange(text)).toBeUndefined();
    expect(() => compileRanges([text])).toThrow(TypeError);
  });
});

describe('matching', () => {
  it.each<[string[], string, boolean | undefined]>([
    [['203.0.113.0/24'], '203.0.113.0', true],
    [['203.0.113.0/24'], '203.0.113.255', true],
    [['203.0.113.0/24'], '203.0.112.255', false],
    [['203.0.113.0/24'], '203.0.114.0', false],
    [['203.0.113.9/24'], '203.0.113.200', true],
    [['203.0.113.7/32'], '203.0.113.7', true],
    [['203.0.113.7/32'], '203.0.113.8', false],
    [['203.0.113.7'], '203.0.113.7', true],
    [['203.0.113.7'], '203.0.113.8', false],
    [['0.0.0.0/0'], '255.255.255.255', true],
    [['0.0.0.0/0'], '2001:db8::1', false],
    [['::/0'], '2001:db8::1', true],
    [['::/0'], '192.0.2.1', false],
    [['::/0'], '::ffff:192.0.2.1', false],
    [['203.0.113.0/24'], '::ffff:203.0.113.7', true],
    [['203.0.113.0/24'], '::ffff:cb00:7107', true],
    [['203.0.113.0/24'], '0:0::FFFF:cb00:7107', true],
    [['203.0.113.0/24'], '0000:0000:0000:0000:0000:ffff:203.0.113.7', true],
    [['203.0.113.0/24'], '::ffff:0:203.0.113.7', false],
    [['::ffff:203.0.113.0/120'], '203.0.113.7', true],
    [['2001:db8::/32'], '2001:DB8:0:0::ffff', true],
    [['2001:db8::/32'], '2001:db9::', false],
    [['2001:db8::1/128'], '2001:db8:0:0:0:0:0:1', true],
    [['2001:db8::1'], '2001:db8::2', false],
    [['2001:db8::/32'], 'fe80::1%eth0', undefined],
    [['fe80::/10'], 'fe80::1%eth0', undefined],
    [['10.0.0.0/8'], '10.0.0.0/8', undefined],
    [['10.0.0.0/8'], 'not an address', undefined],
    [['10.0.0.0/8'], '', undefined],
    [[], '10.0.0.1', false],
  ])('%j holds %s: %s', (ranges, address, inside) => {
    expect(compileRanges(ranges)(address)).toBe(inside);
  });

  it('looks through a hundred ranges', () => {
    const isInside = compileRanges(Array.from({ length: 100 }, (_, index) => `10.${index}.0.0/16`));
    expect(isInside('10.99.1.1')).toBe(true);
    expect(isInside('10.100.1.1')).toBe(false);
  });
});

describe('an address', () => {
  it('that rules judge has no zone id', () => {
    expect(['192.0.2.1', '::1', '::ffff:1.2.3.4'].every(isAddress)).toBe(true);
    expect(['fe80::1%1', '192.0.2', '', '1.2.3.4/32'].some(isAddress)).toBe(false);
  });

  it.each([
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:c000:201', '192.0.2.1'],
    ['0:0:0:0:0:ffff:192.0.2.1', '192.0.2.1'],
    ['192.0.2.1', '192.0.2.1'],
    ['2001:db8::1', '2001:db8::1'],
    ['::ffff:300.0.2.1', '::ffff:300.0.2.1'],
    ['fe80::1%eth0', 'fe80::1%eth0'],
    ['unknown', 'unknown'],
    ['', ''],
  ])('%s is %s without the mapping', (text, plain) => {
    expect(unmapped(text)).toBe(plain);
  });

  it.each([
    ['8.8.8.8', true],
    ['2606:4700::1111', true],
    ['127.0.0.1', false],
    ['10.1.2.3', false],
    ['169.254.169.254', false],
    ['168.63.129.16', false],
    ['::1', false],
    ['fd00::1', false],
    ['fe80::1%eth0', false],
    ['::ffff:127.0.0.1', false],
    ['2002:7f00:1::', false],
    ['::127.0.0.1', false],
    ['::7f00:1', false],
    ['::a9fe:a9fe', false],
    ['::ffff:0:127.0.0.1', false],
    ['64:ff9b:1::7f00:1', false],
    ['fec0::1', false],
    ['4000::1', false],
    ['2a00:1450:4001:830::200e', true],
    ['example.com', false],
  ])('%s is on the public internet: %s', (address, isPublic) => {
    expect(isPublicAddress(address)).toBe(isPublic);
  });
});

describe('two addresses', () => {
  it.each([
    ['203.0.113.7', '203.0.113.255', true, false],
    ['203.0.113.7', '203.0.113.7', true, true],
    ['203.0.113.7', '203.0.114.7', false, false],
    ['2001:db8:1:2::1', '2001:db8:1:2:ffff::9', true, true],
    ['2001:db8:1:2::1', '2001:db8:1:3::1', false, false],
    ['fe80::1%eth0', 'fe80::2%eth0', true, true],
    ['::ffff:203.0.113.7', '203.0.113.8', true, false],
    ['', '', true, true],
  ])('%s and %s are in one network: %s, and of one subscriber: %s', (one, other, network, subscriber) => {
    expect(networkOf(one) === networkOf(other)).toBe(network);
    expect(subscriberOf(one) === subscriberOf(other)).toBe(subscriber);
  });
});
