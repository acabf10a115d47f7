import { describe, expect, it } from 'vitest';
import { compileRanges, isAddress, normalizeRange } from './addresses.ts';

const matches = (ranges: string[], address: string) =>
  compileRanges(ranges.map((range) => normalizeRange(range, 'allowed_ips')))(address);

describe('a stored range', () => {
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
    ['::ffff:0:0/96', '0.0.0.0/0'],
  ])('of %s is %s', (text, stored) => {
    expect(normalizeRange(text, 'allowed_ips')).toBe(stored);
    expect(normalizeRange(stored, 'allowed_ips')).toBe(stored);
  });

  it.each([
    '',
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
  ])('cannot be made of %j: the error names the field', (text) => {
    expect(() => normalizeRange(text, 'allowed_ips')).toThrow(/^allowed_ips: /);
  });
});

describe('matching', () => {
  it.each([
    [['203.0.113.0/24'], '203.0.113.0', true],
    [['203.0.113.0/24'], '203.0.113.255', true],
    [['203.0.113.0/24'], '203.0.112.255', false],
    [['203.0.113.0/24'], '203.0.114.0', false],
    [['203.0.113.9/24'], '203.0.113.200', true],
    [['203.0.113.7/32'], '203.0.113.7', true],
    [['203.0.113.7/32'], '203.0.113.8', false],
    [['0.0.0.0/0'], '255.255.255.255', true],
    [['0.0.0.0/0'], '2001:db8::1', false],
    [['::/0'], '2001:db8::1', true],
    [['::/0'], '192.0.2.1', false],
    [['203.0.113.0/24'], '::ffff:203.0.113.7', true],
    [['203.0.113.0/24'], '::ffff:cb00:7107', true],
    [['::ffff:203.0.113.0/120'], '203.0.113.7', true],
    [['2001:db8::/32'], '2001:DB8:0:0::ffff', true],
    [['2001:db8::/32'], '2001:db9::', false],
    [['2001:db8::1/128'], '2001:db8:0:0:0:0:0:1', true],
    [['2001:db8::/32'], 'fe80::1%eth0', false],
    [['fe80::/10'], 'fe80::1%eth0', false],
    [['10.0.0.0/8'], 'not an address', false],
  ])('%j holds %s: %s', (ranges, address, inside) => {
    expect(matches(ranges, address)).toBe(inside);
  });

  it('looks through a hundred ranges', () => {
    const ranges = Array.from({ length: 100 }, (_, index) => `10.${index}.0.0/16`);
    expect(matches(ranges, '10.99.1.1')).toBe(true);
    expect(matches(ranges, '10.100.1.1')).toBe(false);
  });

  it('takes only addresses without a zone id', () => {
    expect(['192.0.2.1', '::1', '::ffff:1.2.3.4'].every(isAddress)).toBe(true);
    expect(['fe80::1%1', '192.0.2', '', '1.2.3.4/32'].some(isAddress)).toBe(false);
  });
});
