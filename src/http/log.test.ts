import { expect, test } from 'vitest';
import { demoServer, token } from './fixture/server.ts';
import { describeError, masked } from './log.ts';

const raw = `sk_live_${'aB3'.repeat(18)}x`;

test('a request is one line that says who asked what and how it ended', async () => {
  const server = await demoServer();
  await server.send('GET', '/v1/things/count', { headers: { 'x-tenant-id': 'acme', 'x-request-id': 'r-1' } });
  await server.close();
  expect(
    server.lines
      .map((line) => JSON.parse(line) as { requestId: string })
      .filter(({ requestId }) => requestId === 'r-1'),
  ).toEqual([
    expect.objectContaining({
      method: 'GET',
      path: '/demo/v1/things/count',
      status: 405,
      ip: '127.0.0.1',
      ms: expect.any(Number),
    }),
  ]);
  const listed = await demoServer();
  await listed.send('GET', '/v1/things?limit=3', { headers: { 'x-tenant-id': 'acme' } });
  await listed.close();
  expect(JSON.parse(listed.lines[0]!)).toMatchObject({
    operation: 'demo.Things.list',
    tenant: 'acme',
    actor: 'root',
    path: '/demo/v1/things',
  });
});

test('no line holds a token, a key, a query or a body, whatever went wrong', async () => {
  const server = await demoServer();
  const secret = 'hunter2-hunter2';
  await server.send('POST', '/v1/things', { body: { name: 'broken', note: secret } });
  await server.send('POST', '/v1/things', {
    raw: `{"name":"${secret}`,
    headers: { 'content-type': 'application/json' },
  });
  await server.send('GET', `/v1/things?token=${secret}`);
  await server.send('GET', `/v1/things/${raw}`);
  await server.send('GET', `/nowhere/${raw}`);
  await server.send('GET', '/v1/things', { token: raw });
  await server.send('GET', '/v1/things', { token: null, headers: { 'x-api-key': raw } });
  await server.send('GET', '/v1/things', { token: `${token}x` });
  await server.close();
  expect(server.lines.length).toBeGreaterThan(8);
  for (const hidden of [secret, raw, token]) expect(server.log()).not.toContain(hidden);
});

test('an error is told by its type, code, message, stack and causes, and by nothing that it carries', () => {
  const cause = Object.assign(new Error('duplicate key'), {
    code: '23505',
    query: 'insert …',
    parameters: ['hunter2'],
    detail: '(hash)=(x)',
  });
  const told = describeError(new Error('outer', { cause }));
  expect(told).toMatchObject({
    type: 'Error',
    message: 'outer',
    cause: { code: '23505', message: 'duplicate key' },
  });
  expect(JSON.stringify(told)).not.toMatch(/hunter2|hash/);
  expect(describeError({ password: 'hunter2' })).toBe('object');
});

test.each([
  [`key ${raw} refused`, 'key [secret] refused'],
  [`/nowhere/pst_${'aB3'.repeat(18)}x`, '/nowhere/[secret]'],
  [`/nowhere/prt_${'aB3'.repeat(18)}x/more`, '/nowhere/[secret]/more'],
  ['/v1/roles/role_01m7w4n5e0f7drekxj50y51wjg', '/v1/roles/role_01m7w4n5e0f7drekxj50y51wjg'],
  ['connect postgres://user:hunter2@db:5432/x failed', 'connect postgres://user:[secret]@db:5432/x failed'],
  ['authorization: Bearer abc.def.ghi', 'authorization: Bearer [secret]'],
  ['role_01m7w4n5e0f7drekxj50y51wjg was not found', 'role_01m7w4n5e0f7drekxj50y51wjg was not found'],
])('%s is written as: %s', (text, written) => {
  expect(masked(text)).toBe(written);
});
