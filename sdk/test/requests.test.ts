import { describe, expect, it } from 'vitest';
import { createClient, createPlinth, authz } from '../src/index.ts';
import { serve } from './server.ts';
import { failureOf, things } from './things.ts';

const echo = () => serve(() => ({ body: { id: 1 } }));
const lastUrl = (requests: readonly { url: string }[]) => requests.at(-1)?.url;

describe('a request', () => {
  it('reaches the service below the base URL, with or without a slash at its end', async () => {
    const { url, requests } = await echo();
    await createPlinth({ baseUrl: url }).authz.roles.list();
    await createPlinth({ baseUrl: `${url}/` }).keys.scopes.list();
    expect(requests.map((request) => request.url)).toEqual(['/authz/v1/roles', '/keys/v1/scopes']);
  });

  it('goes through services that are made once, each when it is first used', () => {
    const plinth = createPlinth({ baseUrl: 'http://unused.invalid' });
    const made = () =>
      Object.entries(Object.getOwnPropertyDescriptors(plinth)).flatMap(([name, { value }]) =>
        value === undefined ? [] : [name],
      );
    expect(made()).toEqual([]);
    expect(plinth.authz).toBe(plinth.authz);
    expect(made()).toEqual(['authz']);
    expect(Object.keys(plinth)).toHaveLength(14);
  });

  it('reaches a service that runs alone at its own URL', async () => {
    const { url, requests } = await echo();
    await createPlinth({ baseUrl: 'http://unused.invalid', serviceUrls: { authz: url } }).authz.roles.list();
    await authz(
      createClient({ baseUrl: 'http://unused.invalid', serviceUrls: { authz: `${url}/` } }),
    ).roles.list();
    expect(requests.map((request) => request.url)).toEqual(['/v1/roles', '/v1/roles']);
  });

  it('carries query parameters: arrays repeated, what is undefined left out', async () => {
    const { url, requests } = await echo();
    await things({ baseUrl: url }).list({ limit: 10, tag: ['a b', 'c&d'], search: undefined });
    expect(lastUrl(requests)).toBe('/things/v1/things?limit=10&tag=a%20b&tag=c%26d');
  });

  it('carries a map as headers where the contract names a prefix', async () => {
    const { url, requests } = await serve(() => ({ body: {} }));
    const metadata = { colour: 'dark blue', city: 'Köln', padded: ' x ', odd: "utf-8''x", empty: '' };
    const request = { bucket: 'photos', key: 'cat.jpg', metadata, body: 'x' };
    await createPlinth({ baseUrl: url }).storage.objects.put(request);
    expect(requests[0]).toMatchObject({
      url: '/storage/store/v1/buckets/photos/objects/cat.jpg',
      headers: {
        'x-store-meta-colour': 'dark blue',
        'x-store-meta-city': "utf-8''K%C3%B6ln",
        'x-store-meta-padded': "utf-8''%20x%20",
        'x-store-meta-odd': "utf-8''utf-8''x",
        'x-store-meta-empty': "utf-8''",
      },
    });
  });

  it('carries arrays in one parameter where the contract says so', async () => {
    const { url, requests } = await serve(() => ({ body: { things: [], next_cursor: null } }));
    await things({ baseUrl: url }).listMarked({ tag: ['a', 'b c'] });
    await things({ baseUrl: url }).listMarked({ tag: [] });
    expect(requests.map((request) => decodeURIComponent(request.url))).toEqual([
      '/things/v1/things?tag=a,b c',
      '/things/v1/things',
    ]);
  });

  it.each([
    ['a/b', '/things/v1/things/a%2Fb'],
    ['a b?c#d%', '/things/v1/things/a%20b%3Fc%23d%25'],
    ['$&', '/things/v1/things/%24%26'],
    ['__proto__', '/things/v1/things/__proto__'],
    ['größe', '/things/v1/things/gr%C3%B6%C3%9Fe'],
    ['...', '/things/v1/things/...'],
  ])('carries the id %s as one segment', async (id, path) => {
    const { url, requests } = await echo();
    await things({ baseUrl: url }).get({ id });
    expect(lastUrl(requests)).toBe(path);
  });

  it.each([
    ['a/b/c.txt', '/things/objects/a/b/c.txt'],
    ['a b/ü', '/things/objects/a%20b/%C3%BC'],
    ['a/../b', '/things/objects/a%2F..%2Fb'],
    ['a//b', '/things/objects/a%2F%2Fb'],
    ['a/', '/things/objects/a%2F'],
  ])('carries the key %s with its slashes, unless URLs would drop a part', async (key, path) => {
    const { url, requests } = await serve(() => ({ body: 'bytes' }));
    await things({ baseUrl: url }).download({ key });
    expect(lastUrl(requests)).toBe(path);
  });

  it.each(['', '.', '..'])('is not sent for the id "%s", which would address something else', async (id) => {
    const { url, requests } = await echo();
    const failure = await failureOf(things({ baseUrl: url }).delete({ id }));
    expect(failure).toBeInstanceOf(TypeError);
    expect(failure).toMatchObject({ message: expect.stringMatching(/^id: /) });
    expect(requests).toEqual([]);
  });

  it('carries forms', async () => {
    const { url, requests } = await echo();
    await things({ baseUrl: url }).token({ body: { grant_type: 'a b', scope: undefined } });
    expect(requests[0]).toMatchObject({
      body: 'grant_type=a+b',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
  });

  it('carries a merge patch as JSON under its own name', async () => {
    const { url, requests } = await echo();
    await things({ baseUrl: url }).patch({ id: '1', body: { id: 2 } });
    expect(requests[0]).toMatchObject({
      body: '{"id":2}',
      headers: { 'content-type': 'application/merge-patch+json' },
    });
  });

  it('names no content type without a body', async () => {
    const { url, requests } = await echo();
    await things({ baseUrl: url }).get({ id: '1' });
    expect(requests[0]?.headers['content-type']).toBeUndefined();
  });

  it.each([
    ['token', { token: 'secret' }, { authorization: 'Bearer secret' }],
    ['API key', { apiKey: 'secret' }, { 'x-api-key': 'secret' }],
  ])('carries the %s', async (_, credentials, headers) => {
    const { url, requests } = await echo();
    await things({ baseUrl: url, ...credentials }).get({ id: '1' });
    expect(requests[0]?.headers).toMatchObject(headers);
  });

  it('carries no credentials where none are given', async () => {
    const { url, requests } = await echo();
    await things({ baseUrl: url, token: '' }).get({ id: '1' });
    expect(Object.keys(requests[0]?.headers ?? {})).not.toContain('authorization');
  });

  it('carries what the call says, which beats what the client says', async () => {
    const { url, requests } = await echo();
    const client = things({ baseUrl: url, headers: { 'X-Tenant-ID': 'ours', 'X-Trace': 'client' } });
    const options = { tenant: 'acme', app: 'shop', user: 'u', subject: 's', idempotencyKey: 'k' };
    await client.create({ body: {} }, { ...options, headers: { 'X-Trace': 'call' } });
    expect(requests[0]?.headers).toMatchObject({
      'x-tenant-id': 'acme',
      'x-app-id': 'shop',
      'x-user-id': 'u',
      'x-subject-id': 's',
      'idempotency-key': 'k',
      'x-trace': 'call',
    });
  });

  it('is on the behalf that the client says, unless the call says another', async () => {
    const { url, requests } = await echo();
    const client = things({ baseUrl: url, tenant: 'acme', app: 'shop', user: 'u', subject: 's' });
    const ofClient = { 'x-tenant-id': 'acme', 'x-app-id': 'shop', 'x-user-id': 'u', 'x-subject-id': 's' };
    await client.get({ id: '1' });
    await client.get({ id: '1' }, { tenant: 'globex' });
    expect(requests.map(({ headers }) => headers)).toMatchObject([
      ofClient,
      { ...ofClient, 'x-tenant-id': 'globex' },
    ]);
  });

  it('is sent by the fetch that was given', async () => {
    const sent: string[] = [];
    const fetch = (request: Request) => {
      sent.push(`${request.method} ${request.url}`);
      return Promise.resolve(Response.json({ id: 7 }));
    };
    expect(await things({ baseUrl: 'http://nowhere.invalid', fetch }).get({ id: '7' })).toEqual({ id: 7 });
    expect(sent).toEqual(['GET http://nowhere.invalid/things/v1/things/7']);
  });
});

describe('an answer', () => {
  it('is the data as a promise, and the whole response on request, from one request', async () => {
    const { url, requests } = await serve(() => ({
      status: 201,
      headers: { 'X-Request-ID': 'req-1' },
      body: { id: 1 },
    }));
    const answer = things({ baseUrl: url }).create({ body: {} });
    const { data, response, requestId } = await answer.response();
    expect(await answer).toEqual({ id: 1 });
    expect([data, response.status, requestId]).toEqual([{ id: 1 }, 201, 'req-1']);
    expect(requests).toHaveLength(1);
  });

  it('is undefined for the statuses without a body', async () => {
    const statuses: Record<string, number> = { DELETE: 204, GET: 304 };
    const { url } = await serve(({ method }) => ({ status: statuses[method] ?? 200 }));
    const client = things({ baseUrl: url });
    expect(await client.delete({ id: '1' })).toBeUndefined();
    expect(await client.document({ 'If-None-Match': '"1"' })).toBeUndefined();
  });

  it.each([200, 204, 304])('is an error where JSON is due and a %d has no body', async (status) => {
    const { url } = await serve(() => ({ status, headers: { 'X-Request-ID': 'req-1' } }));
    expect(await failureOf(things({ baseUrl: url }).get({ id: '1' }))).toMatchObject({
      kind: 'protocol',
      status,
      requestId: 'req-1',
    });
  });

  it('that fails is handled once it is looked at in any way', async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => unhandled.push(reason);
    process.on('unhandledRejection', note);
    const { url } = await serve(() => ({ status: 404, body: { error: 'gone' } }));
    const client = things({ baseUrl: url });
    await expect(client.list().response()).rejects.toThrow('gone');
    await expect(client.list().finally(() => {})).rejects.toThrow('gone');
    await expect(client.list()[Symbol.asyncIterator]().next()).rejects.toThrow('gone');
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
  });

  it('through a redirect is refused, so that no credential goes elsewhere', async () => {
    const elsewhere = await echo();
    const { url } = await serve(() => ({ status: 307, headers: { Location: `${elsewhere.url}/` } }));
    const failure = await failureOf(things({ baseUrl: url, apiKey: 'secret' }).get({ id: '1' }));
    expect(failure).toMatchObject({ status: 307 });
    expect(elsewhere.requests).toEqual([]);
  });
});
