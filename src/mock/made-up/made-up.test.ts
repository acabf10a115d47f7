/** Makes up every body of the contract. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { breaches } from '../../../contract-tests/conformance.ts';
import { exampleRequest } from '../../../contract-tests/requests.ts';
import { operations, services } from '../../../generated/operations.ts';
import { startMock, type Mock } from '../index.ts';

let mock: Mock;
beforeAll(async () => {
  mock = await startMock({ port: 0, host: '127.0.0.1', log: { info() {} } });
});
afterAll(() => mock.close());

it.each(Object.keys(services))(
  '%s: what is made up fits its schema, and is small',
  { timeout: 300_000 },
  async (service) => {
    const wrong: string[] = [];
    const seen = new Set<string>();
    for (const operation of operations.filter((one) => one.service === service)) {
      const { path, init } = exampleRequest(operation);
      const headers = { authorization: 'Bearer any', ...init.headers, prefer: 'dynamic=true, seed=7' };
      const response = await fetch(`${mock.url}${path}`, { ...init, headers, redirect: 'manual' });
      if (response.headers.get('content-type') !== 'application/json') continue;
      wrong.push(...(await breaches(operation, response)));
      const text = await response.text();
      seen.add(text);
      if (text.length > 1_000_000) wrong.push(`${operation.id}: ${text.length} characters`);
    }
    expect(wrong).toEqual([]);
    expect(seen.size).toBeGreaterThan(1);
  },
);
