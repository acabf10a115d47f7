import { describe, expect, it } from 'vitest';
import type { Delivery } from '../../../../generated/webhooks/types.ts';
import { newId } from '../../../lib/ids.ts';
import { delivering } from './testing.ts';

const one = delivering();
const tenantOf = (name: string) => ({ tenant: `${name}-${Math.random().toString(36).slice(2)}` });
const ended = (id: string, as: { tenant: string }) =>
  expect.poll(async () => ((await one.tools.send('GET', `/deliveries/${id}`, as)) as Delivery).state);

describe('a dead letter', () => {
  it('keeps what was sent, and why it failed', async () => {
    const as = tenantOf('kept');
    const endpoint = await one.endpoint({ max_attempts: 1 }, as);
    const letter = await one.deadLetter(endpoint, { data: { b: 1, a: [true, null] } });
    expect(letter).toMatchObject({
      endpoint_id: endpoint.id,
      event_type: 'invoice.paid',
      tenant_id: as.tenant,
      url: one.receiver.url,
      payload: { b: 1, a: [true, null] },
      error: 'http 500',
      attempt_count: 1,
      last_status_code: 500,
    });
    expect(await one.tools.send('GET', `/dlq/${letter.id}`, as)).toEqual(letter);
    expect(await one.tools.send('GET', '/dlq/count', as)).toEqual({ count: 1 });
    await one.tools.send('DELETE', `/dlq/${letter.id}`, as);
    expect(await one.tools.refusal('GET', `/dlq/${letter.id}`, as)).toEqual([404, 'dlq entry not found']);
    expect(await one.tools.refusal('DELETE', `/dlq/${letter.id}`, as)).toEqual([404, 'dlq entry not found']);
    expect(await one.tools.send('GET', '/dlq/count', as)).toEqual({ count: 0 });
    expect((await one.tools.send('GET', `/deliveries/${letter.delivery_id}`, as)).state).toBe('failed');
  });

  it('of another tenant does not exist', async () => {
    const endpoint = await one.endpoint({ max_attempts: 1 }, tenantOf('mine'));
    const { id } = await one.deadLetter(endpoint);
    const other = tenantOf('other');
    for (const [method, path] of [
      ['GET', `/dlq/${id}`],
      ['DELETE', `/dlq/${id}`],
      ['POST', `/dlq/${id}/replay`],
    ] as const)
      expect(await one.tools.refusal(method, path, other)).toEqual([404, 'dlq entry not found']);
    expect(await one.tools.send('POST', '/dlq/replay', { ...other, body: { ids: [id] } })).toEqual({
      replayed: 0,
      deliveries: [],
      not_found: [id],
      remaining: 0,
    });
    expect((await one.tools.send('GET', `/dlq/${id}`)).id).toBe(id);
  });
});

describe('a replay', () => {
  it('sends the same event once more, under its id', async () => {
    const as = tenantOf('replayed');
    const letter = await one.deadLetter(await one.endpoint({ max_attempts: 1 }, as));
    const delivery = (await one.tools.send('POST', `/dlq/${letter.id}/replay`, as)) as Delivery;
    expect(delivery).toMatchObject({
      event_id: letter.event_id,
      endpoint_id: letter.endpoint_id,
      state: 'pending',
      attempt_count: 0,
      replay_of: letter.delivery_id,
    });
    await ended(delivery.id, as).toBe('delivered');
    expect(
      one.receiver.received.filter(({ headers }) => headers['webhook-id'] === letter.event_id),
    ).toHaveLength(2);
    expect(await one.tools.send('GET', '/dlq', as)).toEqual([]);
  });

  it('of two at once makes one delivery', async () => {
    const as = tenantOf('twice');
    const letter = await one.deadLetter(await one.endpoint({ max_attempts: 1 }, as));
    const replays = await Promise.all(
      Array.from({ length: 10 }, () => one.server.request('POST', `/webhooks/dlq/${letter.id}/replay`, as)),
    );
    expect(replays.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(9).fill(404)]);
    expect(await one.tools.send('GET', `/events/${letter.event_id}/deliveries`, as)).toHaveLength(2);
  });

  it('to a deleted endpoint is a 404, and to a disabled one waits', async () => {
    const as = tenantOf('gone');
    const endpoint = await one.endpoint({ max_attempts: 1 }, as);
    const [first, second] = [await one.deadLetter(endpoint), await one.deadLetter(endpoint)];
    await one.tools.send('PATCH', `/endpoints/${endpoint.id}/disable`, as);
    const held = (await one.tools.send('POST', `/dlq/${first.id}/replay`, as)) as Delivery;
    await one.tools.send('PATCH', `/endpoints/${endpoint.id}/enable`, as);
    await ended(held.id, as).toBe('delivered');
    await one.tools.send('DELETE', `/endpoints/${endpoint.id}`, as);
    expect(await one.tools.refusal('POST', `/dlq/${second.id}/replay`, as)).toEqual([
      404,
      'dlq entry not found',
    ]);
    expect(await one.tools.send('POST', '/dlq/replay', { ...as, body: { ids: [second.id] } })).toMatchObject({
      not_found: [second.id],
    });
    expect((await one.tools.send('GET', `/dlq/${second.id}`, as)).id).toBe(second.id);
  });

  it('of many takes each once, and names those that it did not find', async () => {
    const as = tenantOf('many');
    const endpoint = await one.endpoint({ max_attempts: 1 }, as);
    const letters = [await one.deadLetter(endpoint), await one.deadLetter(endpoint)];
    const [known, absent] = [letters.map(({ id }) => id), newId('dlq')];
    const result = await one.tools.send('POST', '/dlq/replay', {
      ...as,
      body: { ids: [...known, known[0], absent] },
    });
    expect(result).toMatchObject({ replayed: 2, not_found: [absent], remaining: 0 });
    expect(result.deliveries).toHaveLength(2);
  });

  it('by a filter takes a thousand at a time', async () => {
    const as = tenantOf('filter');
    const endpoint = await one.endpoint({ max_attempts: 1, uid: 'filtered' }, as);
    const letter = await one.deadLetter(endpoint, { type: 'invoice.lost' });
    await one.server.db.sql`
      insert into webhooks.dlq (tenant_id, id, app_id, delivery_id, event_id, endpoint_id, event_type, url, payload, error, attempt_count)
      select tenant_id, 'dlq_00000000000000000000' || lpad(nth::text, 6, '0'), app_id, delivery_id || nth, event_id, endpoint_id,
        'invoice.paid', url, '{}', error, 1
      from webhooks.dlq, generate_series(1, 1500) as nth where id = ${letter.id}`;
    await one.tools.send('PATCH', `/endpoints/${endpoint.id}/disable`, as);
    const replay = (body: object) => one.tools.send('POST', '/dlq/replay', { ...as, body });
    const filter = { endpoint_id: 'filtered', event_type: 'invoice.paid' };
    expect(await replay(filter)).toMatchObject({ replayed: 1_000, remaining: 500 });
    expect(await replay(filter)).toMatchObject({ replayed: 500, remaining: 0 });
    expect(await replay(filter)).toMatchObject({ replayed: 0, remaining: 0 });
    expect(await one.tools.send('GET', '/dlq/count', as)).toEqual({ count: 1 });
  });

  it.each<[object, string]>([
    [{}, 'ids: required, unless there is an endpoint_id, event_type, from or to'],
    [
      { ids: [newId('dlq')], event_type: 'a' },
      'ids: cannot be combined with endpoint_id, event_type, from and to',
    ],
  ])('of %j is refused', async (body, message) => {
    expect(await one.tools.refusal('POST', '/dlq/replay', { body })).toEqual([400, message]);
  });
});

describe('a purge', () => {
  it('removes what failed longer ago', async () => {
    const as = tenantOf('purged');
    const endpoint = await one.endpoint({ max_attempts: 1 }, as);
    const other = await one.endpoint({ max_attempts: 1 }, tenantOf('spared'));
    await Promise.all([one.deadLetter(endpoint), one.deadLetter(other)]);
    const purge = (body?: object) => one.tools.send('POST', '/dlq/purge', { ...as, ...(body && { body }) });
    expect(await purge()).toEqual({ purged: 0 });
    expect(await purge({ older_than: '0s', endpoint_id: newId('ep') })).toEqual({ purged: 0 });
    expect(await purge({ older_than: '0s' })).toEqual({ purged: 1 });
    expect(await one.tools.send('GET', '/dlq/count', { tenant: other.tenant_id })).toEqual({ count: 1 });
  });
});

it('the list can be narrowed to what a replay would take', async () => {
  const as = tenantOf('narrowed');
  const endpoint = await one.endpoint({ max_attempts: 1, uid: 'narrow' }, as);
  const paid = await one.deadLetter(endpoint);
  const lost = await one.deadLetter(endpoint, { type: 'invoice.lost' });
  const ids = async (query: string) =>
    ((await one.tools.send('GET', `/dlq${query}`, as)) as { id: string }[]).map(({ id }) => id);
  expect(await ids('')).toEqual([lost.id, paid.id]);
  expect(await ids('?event_type=invoice.paid')).toEqual([paid.id]);
  expect(await ids('?endpoint_id=narrow&limit=1')).toEqual([lost.id]);
  expect(await ids(`?from=${lost.failed_at}`)).toContain(lost.id);
  expect(await ids('?to=2020-01-01T00:00:00Z')).toEqual([]);
});
