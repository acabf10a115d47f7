import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { demoServer, token } from './fixture/server.ts';

let server: Awaited<ReturnType<typeof demoServer>>;
beforeAll(async () => {
  server = await demoServer();
});
afterAll(() => server.close());

const page = async (path: string, accept = '*/*') => {
  const response = await fetch(server.origin + path, { headers: { accept } });
  return { status: response.status, headers: response.headers, text: await response.text() };
};

describe('for people', () => {
  test('the index lists the services, as a page to browsers and as JSON to programs', async () => {
    const html = await page('/', 'text/html,application/xhtml+xml,*/*;q=0.8');
    expect(html.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(html.headers.get('vary')).toBe('Accept');
    expect(html.text).toContain('<h3>Demo &amp; more</h3><p>Decides whether a subject may perform an action');
    expect(html.text).toContain('<a href="/demo/docs" aria-label="API reference of demo">API reference</a>');
    expect(html.text).not.toMatch(/https?:|src=/);
    const json = JSON.parse((await page('/')).text);
    expect(json.services).toEqual([
      {
        name: 'demo',
        title: 'Demo & more',
        description: expect.stringMatching(/^Decides whether .*\.$/),
        base: '/demo',
        reference: '/demo/docs',
        document: '/demo/openapi.json',
      },
    ]);
  });

  test('the document is the contract, and says where this server has it', async () => {
    const document = JSON.parse((await page('/demo/openapi.json')).text);
    expect(document).toMatchObject({ openapi: '3.1.0', servers: [{ url: '/demo' }] });
  });

  test('all services have one document together, which the index names', async () => {
    const document = JSON.parse((await page(JSON.parse((await page('/')).text).document)).text);
    expect(document).toMatchObject({ openapi: '3.1.0', info: { title: 'Plinth' }, servers: [{ url: '/' }] });
    expect(Object.keys(document.paths)).toContain('/demo/v1/roles');
  });
});

describe('for machines', () => {
  test('/metrics counts requests by operation and status, next to the process', async () => {
    await server.send('GET', '/v1/things');
    await server.send('GET', '/v1/things?limit=0');
    const { headers, text } = await page('/metrics');
    expect(headers.get('content-type')).toContain('text/plain');
    const count = (status: number) =>
      `plinth_http_request_duration_seconds_count{service="demo",operation="Things_list",status="${status}"} 1`;
    expect(text).toContain(count(200));
    expect(text).toContain(count(400));
    expect(text).toMatch(/_bucket\{le="\+Inf",service="demo",operation="Things_list",status="200"\} 1/);
    expect(text).toContain('process_cpu_seconds_total');
  });

  test('/readyz says no while the database is away', async () => {
    const away = await demoServer({ ping: () => Promise.reject(new Error('ECONNREFUSED')) });
    const response = await fetch(`${away.origin}/readyz`);
    expect([response.status, await response.json()]).toEqual([
      503,
      { status: 'not ready', problem: 'database not reachable' },
    ]);
    expect((await fetch(`${away.origin}/healthz`)).status).toBe(200);
    await away.close();
  });
});

describe('a service that runs alone', () => {
  test('has the paths of the contract, without its folder', async () => {
    const alone = await demoServer({ prefix: '' });
    const things = await fetch(`${alone.origin}/v1/things`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(things.status).toBe(200);
    expect(await (await fetch(`${alone.origin}/openapi.json`)).json()).toMatchObject({
      servers: [{ url: '/' }],
    });
    expect((await fetch(`${alone.origin}/demo/docs`)).status).toBe(404);
    expect(await (await fetch(`${alone.origin}/nope`)).json()).toEqual({
      error: { code: 404, message: 'path not found' },
    });
    await alone.close();
  });
});
