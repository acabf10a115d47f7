import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { until } from '../../../testing/until.ts';
import { laneStore } from './lanes.store.ts';
import { dispatching } from './testing/dispatching.ts';
import { type Receiver, startReceiver } from './testing/receiver.ts';

const one = dispatching();

describe('the breaker', () => {
  it('opens after ten failures, sends one probe when its time has come, and closes', async () => {
    one.receiver.answer(() => 500);
    const endpoint = await one.make.endpoint({ url: one.receiver.url });
    await one.make.deliveries(endpoint, 40);
    const dispatcher = await one.start();
    await expect.poll(() => one.make.lane(endpoint)).toMatchObject({ breaker: 'open', openings: 1 });
    // The window did not grow, so the failures came one after the other.
    expect(one.receiver.received).toHaveLength(10);
    await one.make.makeDue();
    dispatcher.hint([endpoint]);
    const [row] = await one.db.sql<[{ wait: number }]>`
      select extract(epoch from retry_at - now())::float8 as wait from webhooks.lane`;
    expect(row.wait).toBeGreaterThan(10);
    expect(row.wait).toBeLessThan(31);

    const coolDownEnds = () => one.db.sql`update webhooks.lane set retry_at = now()`;
    await coolDownEnds();
    await expect.poll(() => one.make.lane(endpoint)).toMatchObject({ breaker: 'open', openings: 2 });
    expect(one.receiver.received).toHaveLength(11);

    one.receiver.answer(() => 200);
    await coolDownEnds();
    await one.settled({ delivered: 39, pending: 1 });
    await one.make.makeDue();
    await one.settled({ delivered: 40 });
    expect(await one.make.lane(endpoint)).toMatchObject({
      breaker: 'closed',
      consecutive_failures: 0,
      openings: 0,
      window_size: 20,
      failing_since: null,
      retry_at: null,
    });
  });
});

describe('a pause', () => {
  it('holds the whole lane, until the receiver said', async () => {
    one.receiver.answer(() => ({ status: 429, headers: { 'retry-after': '2' } }));
    const endpoint = await one.make.endpoint({ url: one.receiver.url });
    await one.make.deliveries(endpoint, 5);
    await one.start();
    await expect.poll(() => one.make.lane(endpoint)).toMatchObject({ retry_at: expect.any(String) });
    one.receiver.answer(() => 200);
    await one.make.makeDue();
    await one.settled({ delivered: 5 });
    const [first, second] = one.receiver.received;
    expect(second!.at - first!.at).toBeGreaterThan(1_950);
  });
});

describe('the rate', () => {
  it('is never exceeded, whoever sends', async () => {
    const rate = 50;
    const endpoint = await one.make.endpoint({ url: one.receiver.url, rate_limit: rate });
    await one.make.deliveries(endpoint, 120);
    await Promise.all(inject('engine') === 'postgres' ? [one.start(), one.start()] : [one.start()]);
    await one.settled({ delivered: 120 });
    const times = one.receiver.received.map(({ at }) => at).sort((a, b) => a - b);
    // The bound is that of the starts: on a busy machine one request may take longer to arrive than the next.
    const jitter = 0.3;
    for (const [first, from] of times.entries())
      for (let last = first; last < times.length; last++) {
        const seconds = (times[last]! - from) / 1_000;
        expect(last - first + 1).toBeLessThanOrEqual(rate * (seconds + 0.1 + jitter) + 1);
      }
    expect((times.at(-1)! - times[0]!) / 1_000).toBeLessThan(8);
  });
});

describe('receivers that hang', () => {
  const env = { PLINTH_WEBHOOKS_CONCURRENCY: '32' };
  let hanging: Receiver;
  let held: ServerResponse[];
  beforeEach(async () => {
    held = [];
    hanging = await startReceiver((_, response) => void held.push(response));
  });
  afterEach(() => hanging.close());

  const idleEndpoints = (tenants: readonly string[]) =>
    Promise.all(
      tenants.map((tenant_id) => one.make.endpoint({ tenant_id, url: hanging.url, timeout_ms: 30_000 })),
    );
  /** Endpoints with two deliveries each; the tenants are those of the names. */
  const endpoints = async (tenants: readonly string[]) => {
    const ids = await idleEndpoints(tenants);
    await Promise.all(ids.map((id) => one.make.deliveries(id, 2)));
    return ids;
  };

  it('and are new leave the places to other tenants, however many there are of a tenant', async () => {
    const bad = await endpoints(Array.from({ length: 40 }, () => 'hostile'));
    const dispatcher = await one.start({ env });
    dispatcher.hint(bad);
    await until(() => held.length === 2);
    const good = await one.make.endpoint({ url: one.receiver.url });
    await one.make.deliveries(good, 50);
    dispatcher.hint([good]);
    await until(() => one.receiver.received.length === 50);
    expect(held).toHaveLength(2);
    // Whatever ends makes room for the next one.
    hanging.answer(() => 200);
    for (const response of held) response.end();
    await one.settled({ delivered: 130 });
  });

  it('and always worked leave places to other tenants, however many there are of a tenant', async () => {
    const bad = await endpoints(Array.from({ length: 100 }, () => 'large'));
    await laneStore(one.db.sql).create(bad);
    await one.db.sql`update webhooks.lane set last_success_at = now(), window_size = 20`;
    const dispatcher = await one.start({ env });
    dispatcher.hint(bad);
    await until(() => held.length === 24);
    const other = await one.make.endpoint({ tenant_id: 'other', url: one.receiver.url });
    await one.make.deliveries(other, 50);
    dispatcher.hint([other]);
    await until(() => one.receiver.received.length === 50);
    expect(held).toHaveLength(24);
    // Whatever ends makes room for the next one.
    hanging.answer(() => 200);
    for (const response of held) response.end();
    await until(() => hanging.received.length > 100);
  });

  it('and always worked until one tenant after the other began to hang leave places to those that work', async () => {
    const dispatcher = await one.start({ env: { PLINTH_WEBHOOKS_CONCURRENCY: '64' } });
    for (const [tenant, most] of Object.entries({ first: 48, second: 4, third: 2, fourth: 2 })) {
      const before = held.length;
      const bad = await idleEndpoints(Array.from({ length: most }, () => tenant));
      await laneStore(one.db.sql).create(bad);
      await one.db.sql`update webhooks.lane set last_success_at = now(), window_size = 20`;
      // The dispatcher that runs meanwhile would take them for new ones if they had something to deliver before.
      await Promise.all(bad.map((id) => one.make.deliveries(id, 2)));
      dispatcher.hint(bad);
      await until(() => held.length === before + most);
    }
    const good = await one.make.endpoint({ tenant_id: 'good', url: one.receiver.url });
    await one.make.deliveries(good, 50);
    dispatcher.hint([good]);
    await until(() => one.receiver.received.length === 50);
    expect(held).toHaveLength(56);
  });

  it.each([
    ['are new', {}],
    ['fail', { consecutive_failures: 1, last_success_at: '2026-11-20T09:00:00Z', window_size: 5 }],
    ['were pardoned', { last_success_at: '2026-11-20T09:00:00Z', window_size: 1 }],
  ])('and %s leave half of the places to those that work', async (_, past) => {
    const good = await one.make.endpoint({ url: one.receiver.url });
    await one.make.deliveries(good, 1);
    const dispatcher = await one.start({ env });
    await one.settled({ delivered: 1 });
    const bad = await endpoints(Array.from({ length: 40 }, (_, at) => `tenant-${at}`));
    await laneStore(one.db.sql).create(bad);
    if (Object.keys(past).length > 0)
      await one.db.sql`update webhooks.lane set ${one.db.sql(past)} where endpoint_id = any(${bad})`;
    dispatcher.hint(bad);
    await until(() => held.length === 16);
    await one.make.deliveries(good, 50);
    dispatcher.hint([good]);
    await until(() => one.receiver.received.length === 51);
    expect(held).toHaveLength(16);
  });
});
