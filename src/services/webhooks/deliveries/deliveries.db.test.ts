import { describe, expect, it } from 'vitest';
import type { Delivery } from '../../../../generated/webhooks/types.ts';
import { newId } from '../../../lib/ids.ts';
import { delivering } from './testing.ts';

const one = delivering();
const tenantOf = (name: string) => ({ tenant: `${name}-${Math.random().toString(36).slice(2)}` });

describe('a delivery', () => {
  it('can be followed to its end', async () => {
    const as = tenantOf('followed');
    const endpoint = await one.endpoint({}, as);
    one.receiver.answer(() => ({ status: 202, body: 'thanks' }));
    const delivery = await one.delivered(endpoint, { data: { amount: 4_900 } }, 'delivered');
    expect(delivery).toMatchObject({
      tenant_id: as.tenant,
      endpoint_id: endpoint.id,
      event_type: 'invoice.paid',
      attempt_count: 1,
      max_attempts: 10,
      next_attempt_at: null,
      last_status_code: 202,
      last_error: null,
      last_response: 'thanks',
      replay_of: null,
    });
    expect(await one.tools.send('GET', `/deliveries/${delivery.id}`, as)).toEqual(delivery);
    expect(await one.tools.send('GET', `/deliveries/${delivery.id}/attempts`, as)).toEqual([
      {
        id: expect.stringMatching(/^att_/),
        delivery_id: delivery.id,
        attempt: 1,
        url: one.receiver.url,
        outcome: 'delivered',
        status_code: 202,
        error: null,
        response: 'thanks',
        latency_ms: delivery.last_latency_ms,
        started_at: expect.any(String),
      },
    ]);
  });

  it('that waits can be sent at once', async () => {
    const as = tenantOf('retried');
    const endpoint = await one.endpoint({}, as);
    one.receiver.answer(() => 500);
    const { id } = await one.delivered(endpoint, {}, 'pending');
    await expect
      .poll(async () => (await one.tools.send('GET', `/deliveries/${id}`, as)).attempt_count)
      .toBe(1);
    one.receiver.answer(() => 200);
    const retried = await one.tools.send('POST', `/deliveries/${id}/retry`, as);
    expect(retried).toMatchObject({ id, state: 'pending', attempt_count: 1, last_error: 'http 500' });
    await expect
      .poll(async () => (await one.tools.send('GET', `/deliveries/${id}`, as)).state)
      .toBe('delivered');
    expect(await one.tools.refusal('POST', `/deliveries/${id}/retry`, as)).toEqual([
      400,
      'delivery is not pending',
    ]);
  });

  it('of another tenant does not exist', async () => {
    const as = tenantOf('owner');
    const { id } = await one.delivered(await one.endpoint({}, as), {}, 'delivered');
    const other = tenantOf('other');
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '/attempts'],
      ['POST', '/retry'],
    ] as const) {
      const foreign = await one.server.request(method, `/webhooks/deliveries/${id}${path}`, other);
      const absent = await one.server.request(method, `/webhooks/deliveries/${newId('del')}${path}`, other);
      expect([foreign.status, foreign.text]).toEqual([404, '{"error":"delivery not found"}']);
      expect(foreign.text).toBe(absent.text);
    }
    // The operator sees the deliveries of all tenants.
    expect((await one.tools.send('GET', `/deliveries/${id}`)).id).toBe(id);
  });
});

describe('the lists', () => {
  it('show live and ended deliveries in one order, page by page', async () => {
    const as = tenantOf('lists');
    const [good, bad] = [await one.endpoint({}, as), await one.endpoint({ uid: 'bad' }, as)];
    one.receiver.answer(({ headers }) => (Number(headers['x-fails'] ?? 0) ? 500 : 200));
    await one.tools.send('PUT', `/endpoints/${bad.id}`, { ...as, body: { headers: { 'x-fails': '1' } } });
    for (let made = 0; made < 5; made++) await one.tools.event({ type: 'invoice.paid' }, as);
    await one.tools.event({ type: 'invoice.lost' }, as);
    const list = (query = '', path = '/deliveries') =>
      one.tools.send('GET', `${path}${query}`, as) as Promise<Delivery[]>;
    await expect.poll(async () => (await list('?state=delivered')).length).toBe(6);
    await expect
      .poll(
        async () => (await list('?state=pending')).filter(({ attempt_count }) => attempt_count > 0).length,
      )
      .toBeGreaterThan(0);
    const all = await list();
    expect(all.map(({ id }) => id)).toEqual(
      all
        .map(({ id }) => id)
        .sort()
        .reverse(),
    );
    expect(all).toHaveLength(12);

    const pages: Delivery[] = [];
    for (let cursor = ''; ;) {
      const page = await one.server.request('GET', `/webhooks/deliveries?limit=5${cursor}`, as);
      pages.push(...(page.body as Delivery[]));
      const next = page.headers.get('x-next-cursor');
      if (next === null) break;
      cursor = `&cursor=${next}`;
    }
    expect(pages.map(({ id }) => id)).toEqual(all.map(({ id }) => id));
    expect((await list('?limit=3&offset=4')).map(({ id }) => id)).toEqual(
      all.slice(4, 7).map(({ id }) => id),
    );
    expect(await list('', '/endpoints/bad/deliveries')).toHaveLength(6);
    expect(await list('?endpoint_id=bad&event_type=invoice.lost')).toHaveLength(1);
    expect(await list(`?endpoint_id=${good.id}&state=delivered`)).toHaveLength(6);
    expect(await list('?endpoint_id=nobody')).toEqual([]);
    expect(await list(`?from=${all[0]!.created_at}`)).not.toHaveLength(0);
    expect(await list(`?to=2020-01-01T00:00:00Z`)).toEqual([]);
    expect(await one.tools.refusal('GET', '/endpoints/nobody/deliveries', as)).toEqual([
      404,
      'endpoint not found',
    ]);
    expect(await one.tools.refusal('GET', `/endpoints/${good.id}/deliveries`, tenantOf('stranger'))).toEqual([
      404,
      'endpoint not found',
    ]);
  });
});

it('a deleted endpoint gets nothing more: what waits is cancelled', async () => {
  const as = tenantOf('deleted');
  const endpoint = await one.endpoint({}, as);
  one.receiver.answer(() => 500);
  const { id } = await one.delivered(endpoint, {}, 'pending');
  await one.tools.send('DELETE', `/endpoints/${endpoint.id}`, as);
  await expect
    .poll(async () => (await one.tools.send('GET', `/deliveries/${id}`, as)).state, { timeout: 20_000 })
    .toBe('cancelled');
});
