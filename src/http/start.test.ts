import { expect, test } from 'vitest';
import { createStart, isOfDeveloper } from './start.ts';

const opened = { host: '127.0.0.1:4000', 'sec-fetch-mode': 'navigate' };
const request = (headers: Record<string, string>, remoteAddress = '127.0.0.1') =>
  ({ headers, socket: { remoteAddress } }) as unknown as Parameters<typeof isOfDeveloper>[0];

test.each<[string, Record<string, string>, string?]>([
  ['in a browser', opened],
  ['by the name of the machine', { ...opened, host: 'localhost:4000' }],
  ['over IPv6', { ...opened, host: '[::1]:4000' }, '::1'],
  ['over IPv4 on an IPv6 socket', opened, '::ffff:127.0.0.1'],
  ['by a program', { host: '127.0.0.1:4000' }],
])('whoever develops opens the page %s', (_, headers, address) => {
  expect(isOfDeveloper(request(headers, address))).toBe(true);
});

test.each<[string, Record<string, string>, string?]>([
  ['from another machine', opened, '192.0.2.7'],
  ['by a name that another site made lead here', { ...opened, host: 'evil.example' }],
  ['by a name that only looks like this machine', { ...opened, host: '127.0.0.1.evil.example' }],
  ['by a script', { ...opened, 'sec-fetch-mode': 'cors' }],
  ['by a script of another site', { ...opened, origin: 'https://evil.example' }],
  ['through a proxy', { ...opened, 'x-forwarded-for': '192.0.2.7' }],
  ['without saying where', { 'sec-fetch-mode': 'navigate' }],
])('nobody else gets the links: %s', (_, headers, address) => {
  expect(isOfDeveloper(request(headers, address))).toBe(false);
});

test('in production nobody does', async () => {
  const links = [{ href: '/mail', text: 'Mail', description: 'It is there.' }];
  const deps = { isReady: async () => true, anonymous: false, address: 'http://127.0.0.1:4000', links };
  const asked = async (production: boolean) =>
    (await createStart({ ...deps, production })(request(opened) as never)).links;
  expect([await asked(false), await asked(true)]).toEqual([links, []]);
});
