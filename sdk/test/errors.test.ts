import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { createPlinth, isPlinthError, PlinthError } from '../src/index.ts';
import { inTurn, serve } from './server.ts';
import { failureOf, things } from './things.ts';

describe('an error that the server answers', () => {
  it.each([
    [
      'auth, keys, safety, retrieval, agents',
      404,
      { error: 'key not found', code: 'not_found' },
      'not_found',
      'key not found',
    ],
    ['storage', 404, { error: 'no such object', code: 40401 }, 40401, 'no such object'],
    [
      'authz',
      409,
      { error: { code: 409, message: 'role slug already exists' } },
      409,
      'role slug already exists',
    ],
    [
      'billing',
      400,
      { error: { code: 'plan_invalid', message: 'no', type: 't', param: 'p' } },
      'plan_invalid',
      'no',
    ],
    ['webhooks, jobs, audit, gateway, sync', 403, { error: 'audit: no' }, 403, 'audit: no'],
    ['control', 400, { message: 'name: required' }, 400, 'name: required'],
    ['OAuth', 400, { error: 'invalid_grant', error_description: 'expired' }, 400, 'invalid_grant'],
    ['a proxy with a page', 500, '<h1>Oops</h1>', 500, 'HTTP 500 Internal Server Error'],
    ['a proxy with nothing', 500, undefined, 500, 'HTTP 500 Internal Server Error'],
    ['nobody we know', 400, [1], 400, 'HTTP 400 Bad Request'],
  ])('is read from the envelope of %s', async (_, status, body, code, message) => {
    const { url } = await serve(() => ({ status, body, headers: { 'X-Request-ID': 'req-9' } }));
    const failure = await failureOf(things({ baseUrl: url }).create({ body: {} }));
    expect(failure).toBeInstanceOf(PlinthError);
    expect(failure).toMatchObject({
      kind: 'response',
      status,
      code,
      message,
      requestId: 'req-9',
      operation: 'things.things.create',
    });
    expect((failure as PlinthError).body).toEqual(body);
  });

  it.each([
    ['7', 7],
    ['0', 0],
    ['soon', undefined],
    ['', undefined],
    ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
  ])('says after which time to repeat: %s', async (header, retryAfter) => {
    const { url } = await serve(() => ({ status: 503, headers: { 'Retry-After': header } }));
    const failure = await failureOf(things({ baseUrl: url, retries: 0 }).get({ id: '1' }));
    expect(failure).toMatchObject({ status: 503, retryAfter });
  });

  it('says after which time to repeat when that is a date', async () => {
    const date = new Date(Date.now() + 3_600_000).toUTCString();
    const { url } = await serve(() => ({ status: 503, headers: { 'Retry-After': date } }));
    const failure = await failureOf(things({ baseUrl: url, retries: 0 }).get({ id: '1' }));
    expect((failure as PlinthError).retryAfter).toBeGreaterThan(3_500);
    expect((failure as PlinthError).retryAfter).toBeLessThanOrEqual(3_600);
  });

  it('has the headers of the answer, which no copy of its members contains', async () => {
    const { url } = await serve(() => ({
      status: 409,
      body: { error: 'no' },
      headers: { ETag: '"v7"', 'X-RateLimit-Remaining': '3' },
    }));
    const failure = (await failureOf(things({ baseUrl: url }).create({ body: {} }))) as PlinthError;
    expect(failure.headers).toBeInstanceOf(Headers);
    expect(failure.headers?.get('etag')).toBe('"v7"');
    expect(failure.headers?.get('X-RateLimit-Remaining')).toBe('3');
    expect({ ...failure }).not.toHaveProperty('headers');
    expect(JSON.stringify(failure)).not.toContain('v7');
  });

  it('carries no credential, however it is printed', async () => {
    const { url } = await serve(() => ({ status: 401, body: { error: 'no', code: 'unauthenticated' } }));
    const failure = await failureOf(
      things({ baseUrl: url, token: 'SECRET' }).create({ body: { name: 'SECRET' } }),
    );
    expect(inspect(failure, { depth: 10 }) + JSON.stringify(failure)).not.toContain('SECRET');
  });
});

describe('an error on the way', () => {
  it('is a connection error when nobody listens', async () => {
    const failure = await failureOf(things({ baseUrl: 'http://127.0.0.1:1', retries: 0 }).get({ id: '1' }));
    expect(failure).toMatchObject({
      kind: 'connection',
      status: 0,
      code: 'connection',
      cause: expect.any(Error),
    });
    expect((failure as PlinthError).headers).toBeUndefined();
  });

  it('is a connection error when the answer breaks off', async () => {
    const { url } = await serve((_, response) => {
      response.writeHead(200, { 'Content-Length': '100' });
      response.write('{"id":', () => response.destroy());
      return undefined;
    });
    const failure = await failureOf(things({ baseUrl: url, retries: 0 }).get({ id: '1' }));
    expect(failure).toMatchObject({ kind: 'connection' });
  });

  it.each([
    ['nothing comes', () => undefined],
    [
      'only the headers come',
      (_: unknown, response: { flushHeaders(): void }) => void response.flushHeaders(),
    ],
  ])('is a timeout when %s in time', async (_, respond) => {
    const { url } = await serve(respond);
    const failure = await failureOf(things({ baseUrl: url, retries: 0, timeout: 50 }).get({ id: '1' }));
    expect(failure).toMatchObject({ kind: 'timeout', code: 'timeout', status: 0 });
  });

  it('is the end of the call when the signal aborts, with its reason', async () => {
    const controller = new AbortController();
    const { url } = await serve(() => void controller.abort(new Error('left the page')));
    const failure = await failureOf(things({ baseUrl: url }).get({ id: '1' }, { signal: controller.signal }));
    expect(failure).toMatchObject({ kind: 'abort', cause: { message: 'left the page' } });
  });

  it('is the end of the call when the signal had aborted before', async () => {
    const { url, requests } = await serve(() => ({ body: { id: 1 } }));
    const failure = await failureOf(
      things({ baseUrl: url }).get({ id: '1' }, { signal: AbortSignal.abort() }),
    );
    expect(failure).toMatchObject({ kind: 'abort' });
    expect(requests).toEqual([]);
  });

  it('is a protocol error when a success is not JSON', async () => {
    const { url } = await serve(() => ({ body: '<html>' }));
    const failure = await failureOf(things({ baseUrl: url }).get({ id: '1' }));
    expect(failure).toMatchObject({ kind: 'protocol', cause: expect.any(SyntaxError) });
  });

  it('waits for ever where the time is Infinity', async () => {
    const { url } = await serve(() => ({ body: { id: 1 } }));
    expect(await things({ baseUrl: url, timeout: Infinity }).get({ id: '1' })).toEqual({ id: 1 });
  });

  it('stays what it is when the request itself is wrong', async () => {
    const { url, requests } = await serve(() => ({ body: { id: 1 } }));
    const failure = await failureOf(
      things({ baseUrl: url }).get({ id: '1' }, { headers: { 'bad name': '' } }),
    );
    expect(failure).toBeInstanceOf(TypeError);
    expect(requests).toEqual([]);
  });
});

describe('the guard', () => {
  const denied = { error: { code: 403, message: 'denied' }, allowed: false, decision: 'deny' };

  it('knows errors of the client, also those of another copy of the package', () => {
    const foreign = Object.assign(new Error('x'), { name: 'PlinthError' });
    expect(
      [new PlinthError({ kind: 'abort', operation: 'o', message: 'm' }), foreign].every(isPlinthError),
    ).toBe(true);
    expect(
      [new Error('x'), undefined, 'x', { name: 'PlinthError' }].some((thrown) => isPlinthError(thrown)),
    ).toBe(false);
  });

  it('knows of which method an error is, where its body is the envelope', async () => {
    const { url } = await serve(
      inTurn(
        () => ({ status: 403, body: denied }),
        () => ({ status: 500, body: 'page' }),
      ),
    );
    const { decisions, roles } = createPlinth({ baseUrl: url }).authz;
    const body = { subject_kind: 'user', subject_id: 'u', action: 'read', resource_type: 'document' };
    const failure = await failureOf(decisions.enforce({ body }));
    expect([isPlinthError(failure, decisions.enforce), isPlinthError(failure, roles.create)]).toEqual([
      true,
      false,
    ]);
    const page = await failureOf(decisions.enforce({ body }));
    expect([isPlinthError(page), isPlinthError(page, decisions.enforce)]).toEqual([true, false]);
  });
});
