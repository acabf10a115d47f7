import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TaxRate } from '../../../../generated/billing/types.ts';
import type { TestServer } from '../../../testing/server.ts';
import { serverBy, TestClock, tools } from '../testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await serverBy(new TestClock('2026-01-10T09:00:00Z'));
  api = tools(server);
});
afterAll(() => server.close());

const rate = async (more: object = {}): Promise<TaxRate> =>
  (await api.send('POST', '/billing/tax-rates', {
    body: { country: 'DE', name: 'VAT', rate: '19', ...more },
  })) as TaxRate;
const taken = [409, 'already_exists', 'country: has a rate for this state already'];
const absent = 'txr_01h455vb4pex5vsknk084sn02q';

describe('tax rates', () => {
  it('have their country in capitals, and one rate for each region', async () => {
    const made = await rate({ country: 'de' });
    expect(made).toEqual({
      ...{ id: made.id, country: 'DE', state: null, name: 'VAT', rate: '19', app_id: 'default' },
      created_at: '2026-01-10T09:00:00.000Z',
    });
    const bavaria = await rate({ state: ' Bayern ', rate: '19.5' });
    expect(bavaria).toMatchObject({ state: 'Bayern', rate: '19.5' });
    for (const region of [{}, { country: 'De' }, { state: '' }, { state: null }, { state: 'BAYERN' }]) {
      const body = { country: 'DE', name: 'VAT', rate: '7', ...region };
      expect(await api.refusal('POST', '/billing/tax-rates', { body })).toEqual(taken);
    }
    expect((await api.send('GET', '/billing/tax-rates?limit=1')).data).toEqual([bavaria]);
    expect(await api.send('GET', '/billing/tax-rates?offset=1')).toEqual({
      data: [made],
      pagination: { total: 2, limit: 20, offset: 1, has_more: false },
    });
  });

  it('are given to one of many at once', async () => {
    const body = { country: 'FR', name: 'TVA', rate: '20' };
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => server.request('POST', '/billing/billing/tax-rates', { body })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(7).fill(409)]);
  });

  it('are deleted, and then there can be another', async () => {
    const { id } = await rate({ country: 'AT' });
    await api.send('DELETE', `/billing/tax-rates/${id}`);
    const notFound = [404, 'not_found', 'tax rate not found'];
    for (const gone of [id, absent])
      expect(await api.refusal('DELETE', `/billing/tax-rates/${gone}`)).toEqual(notFound);
    expect(await rate({ country: 'AT', rate: '20' })).toMatchObject({ rate: '20' });
  });

  it('are written by the operator only, and belong to the app', async () => {
    const { id } = await rate({ country: 'IT' });
    const tenant = { tenant: 'acme' };
    const refusal = [403, 'forbidden', 'operator only'];
    const body = { country: 'ES', name: 'IVA', rate: '21' };
    expect(await api.refusal('POST', '/billing/tax-rates', { ...tenant, body })).toEqual(refusal);
    expect(await api.refusal('DELETE', `/billing/tax-rates/${id}`, tenant)).toEqual(refusal);
    const headers = { 'x-app-id': 'app_01h455vb4pex5vsknk084sn02q' };
    expect((await api.refusal('DELETE', `/billing/tax-rates/${id}`, { headers }))[0]).toBe(404);
    expect((await api.send('GET', '/billing/tax-rates', { headers })).data).toEqual([]);
  });
});
