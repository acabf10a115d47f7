import { describe, expect, it } from 'vitest';
import { loose, outbound, strict } from './testing/outbound.ts';

describe('a URL', () => {
  it.each([
    ['https://example.com/hooks', undefined],
    ['https://example.com:8443/hooks?a=b', undefined],
    ['http://example.com/', 'must be an https URL'],
    ['ftp://example.com/', 'must be an https URL'],
    ['/hooks', 'must be an absolute URL'],
    ['https://', 'must be an absolute URL'],
    ['https://user:pass@example.com/', 'must not carry a user name or password'],
    ['https://example.com/#part', 'must not have a fragment'],
    ['https://example.com:0/', 'must not name port 0'],
    ['https://8.8.8.8/', undefined],
    ['https://127.0.0.1/', 'address not allowed'],
    ['https://127.1/', 'address not allowed'],
    ['https://2130706433/', 'address not allowed'],
    ['https://0x7f000001/', 'address not allowed'],
    ['https://0177.0.0.1/', 'address not allowed'],
    ['https://１２７.0.0.1/', 'address not allowed'],
    ['https://example.com:25/', 'must not name port 25'],
    ['https://example.com:6667/', 'must not name port 6667'],
    ['https://*.example.com/', 'must not hold a wildcard'],
    ['https://10.1.2.3/', 'address not allowed'],
    ['https://172.16.0.1/', 'address not allowed'],
    ['https://192.168.1.1/', 'address not allowed'],
    ['https://100.64.0.1/', 'address not allowed'],
    ['https://169.254.169.254/latest/meta-data', 'address not allowed'],
    ['https://168.63.129.16/', 'address not allowed'],
    ['https://0.0.0.0/', 'address not allowed'],
    ['https://255.255.255.255/', 'address not allowed'],
    ['https://224.0.0.1/', 'address not allowed'],
    ['https://198.18.0.1/', 'address not allowed'],
    ['https://[::1]/', 'address not allowed'],
    ['https://[::]/', 'address not allowed'],
    ['https://[::ffff:10.0.0.1]/', 'address not allowed'],
    ['https://[::ffff:8.8.8.8]/', undefined],
    ['https://[64:ff9b::a00:1]/', 'address not allowed'],
    ['https://[2002:a00:1::]/', 'address not allowed'],
    ['https://[fe80::1]/', 'address not allowed'],
    ['https://[fd00::1]/', 'address not allowed'],
    ['https://[ff02::1]/', 'address not allowed'],
    ['https://[2606:4700::1111]/', undefined],
  ])('%s: %s', (url, refusal) => expect(outbound(strict).judge(url)).toBe(refusal));

  it('may be private and plain where that is allowed', () => {
    expect(outbound(loose).judge('http://127.0.0.1:3000/')).toBeUndefined();
    const some = outbound({ allowPrivate: false, allowNetworks: ['10.0.0.0/8', 'fd00::/8'] });
    expect(some.judge('http://10.1.2.3/')).toBeUndefined();
    expect(some.judge('https://[fd00::1]/')).toBeUndefined();
    expect(some.judge('http://192.168.1.1/')).toBe('must be an https URL');
    expect(outbound(loose).judge('http://127.0.0.1:22/')).toBe('must not name port 22');
  });

  it('may be refused by its network or its port, whatever else is allowed', () => {
    const some = outbound({
      ...loose,
      refuseNetworks: ['10.0.0.0/8', '8.8.8.8/32'],
      refusedPorts: new Set([8443]),
    });
    expect(some.judge('http://10.1.2.3/')).toBe('address not allowed');
    expect(some.judge('https://8.8.8.8/')).toBe('address not allowed');
    expect(some.judge('https://example.com:8443/')).toBe('must not name port 8443');
    expect(some.judge('https://example.com:25/')).toBeUndefined();
  });
});
