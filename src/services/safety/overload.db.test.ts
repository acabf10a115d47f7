import { afterAll, beforeAll, expect, it } from 'vitest';
import { testServer, type TestServer } from '../../testing/server.ts';
import { tools } from './testing.ts';

let server: TestServer;
beforeAll(async () => {
  server = await testServer({ services: ['safety'], env: { PLINTH_SAFETY_QUEUE: '2' } });
});
afterAll(() => server.close());

it('scans without a place are refused with 503, and leave room for another tenant', async () => {
  const scan = (tenant: string) =>
    server.request('POST', '/safety/v1/scan/input', { body: { text: 'hello' }, tenant });
  const [calm, ...busy] = await Promise.all([
    scan('calm'),
    ...Array.from({ length: 20 }, () => scan('busy')),
  ]);
  expect(calm.status).toBe(200);
  const refused = busy.filter(({ status }) => status === 503);
  const answered = busy.filter(({ status }) => status === 200);
  expect([refused.length + answered.length, answered.length > 0, refused.length > 0]).toEqual([
    20,
    true,
    true,
  ]);
  expect(refused[0]!.headers.get('retry-after')).toBe('1');
  expect(refused[0]!.body).toEqual({ error: 'scan queue is full', code: 'OVERLOADED' });
  const stats = await tools(server).send('GET', '/scans/stats', { tenant: 'busy' });
  expect(stats.total_scans).toBe(answered.length);
});
