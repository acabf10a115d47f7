import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { operations } from '../../generated/operations.ts';
import { StoreFull, StoreUnavailable, Unavailable } from '../lib/errors.ts';
import type { Exchange } from './exchange.ts';
import { failure, type Envelope } from './failure.ts';
import type { Operation } from './operation.ts';
import { demoServer } from './fixture/server.ts';
import { statusOf } from './status.ts';

let server: Awaited<ReturnType<typeof demoServer>>;
beforeAll(async () => {
  server = await demoServer();
});
afterAll(() => server.close());

describe('a failure', () => {
  test.each(Object.entries(statusOf))(
    '%s has the status %i in the envelope of the service',
    async (kind, code) => {
      const { status, text } = await server.send('GET', `/v1/failures/${kind}`, { token: null });
      expect([status, JSON.parse(text)]).toEqual([code, { error: { code, message: `the failure ${kind}` } }]);
    },
  );

  test('of each status that the contract documents can be raised', () => {
    const raised = new Set(Object.values(statusOf));
    const documented = operations.flatMap(({ responses }) => responses.map(({ status }) => status));
    const never = [...new Set(documented)].filter((status) => status >= 400 && !raised.has(status));
    expect(never).toEqual([]);
  });

  test.each([
    ['unauthenticated', { 'www-authenticate': 'Bearer' }],
    ['requestTimeout', { connection: 'close' }],
    ['rangeNotSatisfiable', { 'content-range': 'bytes */1000' }],
    ['upgradeRequired', { connection: 'Upgrade', upgrade: 'websocket' }],
  ])('%s tells the client what to do next', async (kind, headers) => {
    const answer = await server.send('GET', `/v1/failures/${kind}`, { token: null });
    expect(Object.fromEntries(answer.headers)).toMatchObject(headers);
  });
});

describe('what is unavailable', () => {
  const named: Envelope = { encodeError: ({ kind, message }) => ({ kind, message }) };
  const response = (status: number, ...headers: string[]) => ({ status, contentTypes: [], headers });
  /** Returns the answer to an error of an operation that documents these responses. */
  function answer(error: Error, responses: Operation['responses'], storeFailure?: 500) {
    const operation = { responses, ...(storeFailure && { storeFailure }) } as Operation;
    const exchange = { operation } as Exchange;
    const { status, headers, body } = failure(error, named, exchange, pino({ level: 'silent' }));
    return { status, ...(headers && { headers }), ...(JSON.parse(String(body)) as object) };
  }
  const busy = Unavailable('store busy');
  const retried = { headers: { 'Retry-After': '1' } };

  test.each([StoreUnavailable(), StoreFull(), busy])('is a 503 where that is documented: $kind', (error) => {
    const { kind, message, retryAfter } = error;
    const headers = { 'Retry-After': String(retryAfter) };
    expect(answer(error, [response(500), response(503)])).toEqual({ status: 503, headers, kind, message });
  });

  test('is a 500 where no 503 is documented, and the envelope still learns that the database failed', () => {
    const internal = { status: 500, message: 'internal error' };
    expect(answer(busy, [response(500)])).toEqual({ ...internal, kind: 'internal' });
    expect(answer(busy, [response(500, 'Retry-After')])).toEqual({
      ...internal,
      ...retried,
      kind: 'internal',
    });
    expect(answer(StoreUnavailable(), [response(500)])).toEqual({ ...internal, kind: 'storeUnavailable' });
    expect(answer(StoreUnavailable(), [response(500, 'Retry-After')])).toEqual({
      ...{ ...internal, ...retried },
      kind: 'storeUnavailable',
    });
  });

  test('is told apart where 503 means that the service is busy: a failure of the database is a 500', () => {
    const responses = [response(500), response(503)];
    expect(answer(StoreUnavailable(), responses, 500)).toMatchObject({
      status: 500,
      kind: 'storeUnavailable',
    });
    expect(answer(StoreFull(), responses, 500)).toMatchObject({ status: 500, kind: 'storeFull' });
    expect(answer(busy, responses, 500)).toMatchObject({ status: 503, message: 'store busy' });
  });

  test('is told apart in agents and safety', () => {
    const apart = operations.filter(({ storeFailure }) => storeFailure === 500);
    expect(new Set(apart.map(({ service }) => service))).toEqual(new Set(['agents', 'safety']));
  });
});
