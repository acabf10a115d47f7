import type { IncomingMessage } from 'node:http';
import { expect, it } from 'vitest';
import { trustedPeers } from './peers.ts';

const request = (remoteAddress: string, forwarded?: string) =>
  ({ socket: { remoteAddress }, headers: { 'x-forwarded-for': forwarded } }) as unknown as IncomingMessage;

it.each([
  [['10.0.0.0/8'], '10.0.0.1', '203.0.113.9, 198.51.100.7', '198.51.100.7'],
  [['10.0.0.0/8'], '10.0.0.1', '203.0.113.9, 10.2.3.4', '203.0.113.9'],
  [['10.0.0.0/8'], '10.0.0.1', '10.2.3.4, 10.2.3.5', '10.2.3.4'],
  [['10.0.0.0/8'], '10.0.0.1', undefined, '10.0.0.1'],
  [['10.0.0.0/8'], '10.0.0.1', 'unknown, _hidden', '10.0.0.1'],
  [['10.0.0.0/8'], '192.0.2.1', '203.0.113.9', '192.0.2.1'],
  [['10.0.0.1'], '::ffff:10.0.0.1', '::ffff:203.0.113.9', '203.0.113.9'],
  [['::ffff:10.0.0.0/104'], '10.0.0.1', '::ffff:cb00:7109', '203.0.113.9'],
  [['fe80::/10'], 'fe80::1%eth0', '2001:db8::9', '2001:db8::9'],
  [['::/0'], '192.0.2.1', '203.0.113.9', '192.0.2.1'],
  [['0.0.0.0/0'], '192.0.2.1', '203.0.113.9, 203.0.113.10', '203.0.113.9'],
  [[], '::ffff:192.0.2.1', '203.0.113.9', '192.0.2.1'],
])('trusting %j, a request from %s for %s comes from %s', (trusted, peer, forwarded, from) => {
  expect(trustedPeers(trusted).addressOf(request(peer, forwarded))).toBe(from);
});
