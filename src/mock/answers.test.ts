import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startMock, type Mock } from './index.ts';
import { asking, credentials, json, roleId } from './testing/asking.ts';

// The first request of a service prepares it.
vi.setConfig({ testTimeout: 30_000 });

let mock: Mock;
beforeAll(async () => {
  mock = await startMock({ port: 0, host: '127.0.0.1', log: { info() {} } });
});
afterAll(() => mock.close());

const { send, post, preferring } = asking(() => mock);

describe('the answers of the mock', () => {
  it('are the examples of the contract, under the paths of the all-in-one server', async () => {
    const response = await send(`/authz/v1/roles/${roleId}`);
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      id: roleId,
      slug: 'editor',
      metadata: { tier: 'premium' },
    });
  });

  it('name the address of the mock where they name that of the service', async () => {
    const metadata = await (await send('/auth/v1/auth/.well-known/openid-configuration')).text();
    expect(JSON.parse(metadata)).toMatchObject({
      issuer: `${mock.url}/auth/v1/auth`,
      jwks_uri: `${mock.url}/auth/v1/auth/.well-known/jwks.json`,
    });
    const path = '/auth/v1/auth/oauth2/authorize?client_id=client_01m7w6qgepfq9s8vanppxya2w6';
    const response = await send(path, {
      redirect: 'manual',
      headers: { ...credentials, prefer: 'code=303' },
    });
    const told = `${metadata} ${decodeURIComponent(response.headers.get('location') ?? '')}`;
    expect(told).not.toContain(':4000');
  });

  it('carry the documented headers and a request id', async () => {
    const response = await post('/authz/v1/roles', { name: 'Editor' });
    expect(response.status).toBe(201);
    expect(response.headers.get('x-revision')).toMatch(/^\d+$/);
    expect(response.headers.get('x-request-id')).toBeTruthy();
  });

  it('to a 204 have neither body nor content type', async () => {
    const response = await send(`/authz/v1/roles/${roleId}`, { method: 'DELETE' });
    expect(response.status).toBe(204);
    expect(response.headers.get('content-type')).toBeNull();
    expect(await response.text()).toBe('');
  });

  it('to a list end after the second page', async () => {
    const cursor = (await send('/authz/v1/roles')).headers.get('x-next-cursor');
    expect(cursor).not.toBeNull();
    expect((await send(`/authz/v1/roles?cursor=${cursor}`)).headers.get('x-next-cursor')).toBeNull();
  });

  it('are streams of events where the contract says so', async () => {
    const response = await send('/keys/v1/changes');
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    expect(await response.text()).toMatch(
      /^event: change\nid: 1\ndata: \{"seq":\d+,"kind":"key","id":"key_\w+"\}\n\n$/,
    );
  });

  it('tell in a stream one story with one end, and another end on request', async () => {
    const told = async (prefer: string) => {
      const response = await send('/agents/agentsvc/agents/support/stream', {
        method: 'POST',
        headers: { ...json, prefer },
        body: JSON.stringify({ input: 'Where is my order?' }),
      });
      return [...(await response.text()).matchAll(/^event: (.*)$/gm)].map(([, event]) => event);
    };
    const begin = ['run_started', 'step', 'token', 'token', 'usage'];
    expect(await told('')).toEqual([...begin, 'done']);
    expect(await told('example=error')).toEqual([...begin, 'error']);
    expect(await told('example=paused')).toEqual([...begin, 'paused']);
    expect(await told('example=step')).toEqual(['run_started', 'step']);
  });

  it('are bytes that programs can open where they are files', async () => {
    const pdf = await send('/billing/billing/invoices/inv_01khgbwb6gfcvt5fwr9s2r6n64/pdf');
    expect(pdf.headers.get('content-type')).toBe('application/pdf');
    expect(await pdf.text()).toMatch(/^%PDF-1\.4\n.*%%EOF\n$/s);
    const archive = await send('/audit/v1/retention/archives/archive_01kjkhze80ff18hh4d04aq0v2v/content');
    expect(archive.headers.get('content-type')).toBe('application/gzip');
    expect(gunzipSync(await archive.bytes()).toString()).toMatch(/./);
  });

  it('are of the content type that the path names', async () => {
    for (const [format, type] of [
      ['csv', 'text/csv'],
      ['markdown', 'text/markdown'],
      ['html', 'text/html'],
      ['json', 'application/json'],
    ]) {
      const response = await send(`/audit/v1/reports/report_01kn44arm0f9jvqrxwdpmb3e8x/export/${format}`);
      expect(response.headers.get('content-type')).toBe(type);
      expect(await response.text()).not.toBe('');
    }
  });

  it('are pages for browsers and JSON for programs where both are documented', async () => {
    const path = '/auth/v1/auth/oauth2/authorize?client_id=client_01m7w6qgepfq9s8vanppxya2w6';
    const asked = async (accept: string) => {
      const response = await send(path, { headers: { prefer: 'code=400', accept } });
      return response.headers.get('content-type');
    };
    expect(await asked('text/html,application/xhtml+xml,*/*;q=0.8')).toBe('text/html');
    expect(await asked('application/json')).toBe('application/json');
  });

  it('lead elsewhere where they are redirects', async () => {
    const path = '/auth/v1/auth/oauth2/authorize?client_id=client_01m7w6qgepfq9s8vanppxya2w6';
    const response = await send(path, {
      redirect: 'manual',
      headers: { ...credentials, prefer: 'code=303' },
    });
    expect(response.status).toBe(303);
    expect(response.headers.get('location')).toMatch(/^(https?:\/)?\//);
  });

  it('are empty where nothing has changed, and for a HEAD', async () => {
    const object = '/storage/store/v1/buckets/photos/objects/2026/cat.jpg';
    const response = await preferring(object, 'code=304');
    expect([response.status, await response.text()]).toEqual([304, '']);
    const head = await send(object, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
  });

  it('are the same under the other spelling of a path', async () => {
    const [one, other] = await Promise.all([send('/safety/v1/boundarys'), send('/safety/v1/boundaries')]);
    expect(other.status).toBe(200);
    expect(await other.text()).toBe(await one.text());
  });

  it('take slashes in a parameter, also before the end of the path', async () => {
    for (const id of ['manual-/users/*', 'manual-%2Fusers%2F*']) {
      expect((await send(`/gateway/gateway/api/routes/${id}/enable`, { method: 'POST' })).status).toBe(200);
      expect((await send(`/gateway/gateway/api/routes/${id}`)).status).toBe(200);
    }
  });

  it('are the messages of a feed over a WebSocket', async () => {
    const path = '/gateway/gateway/ws';
    expect((await send(path)).status).toBe(426);
    const socket = new WebSocket(`${mock.url.replace('http', 'ws')}${path}`, ['plinth']);
    const messages: unknown[] = [];
    socket.addEventListener('message', ({ data }) => messages.push(JSON.parse(String(data))));
    const code = await new Promise((resolve) => {
      socket.addEventListener('close', (event) => resolve(event.code));
    });
    expect(code).toBe(1000);
    expect(messages).toMatchObject([{ type: 'stats' }, { type: 'routes' }]);
  });

  it('never read a static segment as an id', async () => {
    const response = await post('/keys/v1/keys/validate', { raw_key: 'sk_live_x' });
    expect(await response.json()).toMatchObject({ valid: true, code: 'VALID' });
    expect((await send('/keys/v1/keys/validate')).status).toBe(405);
  });
});
