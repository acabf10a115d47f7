import { describe, expect, it } from 'vitest';
import { runSweep } from '../../../db/sweeps.ts';
import { readSettings } from '../../../lib/settings.ts';
import { settings } from '../settings.ts';
import { sweeps } from './sweeps.ts';
import { dispatching } from './testing/dispatching.ts';

const one = dispatching();

async function sweep(): Promise<void> {
  for (const each of sweeps({ db: one.db, settings: readSettings(settings, {}) })) await runSweep(each);
}

/** Makes records as old as if they had been made then: ids tell their age, too. */
async function age(table: string, column: string, interval: string): Promise<void> {
  const { sql } = one.db;
  const name = sql(`webhooks.${table}`);
  await sql`update ${name} set ${sql(column)} = now() - ${interval}::interval`;
}
const ageIds = (table: string) =>
  one.db.sql`
    update ${one.db.sql(`webhooks.${table}`)} set id = left(id, 4) || '00' || substr(id, 7)`;
const rows = async (table: string) =>
  (await one.db.sql`select from ${one.db.sql(`webhooks.${table}`)}`).length;

describe('a delivery that is too old', () => {
  it('fails, although it is held, and leaves a dead letter', async () => {
    const endpoint = await one.make.endpoint({ url: one.receiver.url, enabled: false });
    await one.make.deliveries(endpoint, 3);
    await age('delivery', 'created_at', '167 hours');
    await ageIds('delivery');
    await sweep();
    expect(await one.make.states()).toEqual({ pending: 3 });
    await age('delivery', 'created_at', '169 hours');
    await sweep();
    expect(await one.make.states()).toEqual({ failed: 3 });
    const letters = await one.db
      .sql`select error, attempt_count, url, payload from webhooks.dlq order by payload->>'nth'`;
    expect(letters).toHaveLength(3);
    expect(letters[0]).toEqual({
      error: 'expired',
      attempt_count: 0,
      url: one.receiver.url,
      payload: { nth: 1, key: null },
    });
    const events = await one.db.sql`select distinct type, subject from webhooks.outbox`;
    expect(events).toEqual([{ type: 'webhooks.delivery.failed', subject: endpoint }]);
  });
});

describe('an endpoint that was deleted', () => {
  it('has its deliveries cancelled, and is gone with its lane', async () => {
    const endpoint = await one.make.endpoint({ url: one.receiver.url });
    await one.make.deliveries(endpoint, 1_200);
    await one.db.sql`insert into webhooks.lane (endpoint_id, tenant_id) values (${endpoint}, 'acme')`;
    await one.db.sql`update webhooks.endpoint set deleted_at = now()`;
    const kept = await one.make.endpoint({ url: one.receiver.url });
    await one.make.deliveries(kept, 1);
    await sweep();
    expect(await one.make.states()).toEqual({ cancelled: 1_200, pending: 1 });
    expect(await rows('endpoint')).toBe(1);
    expect(await rows('lane')).toBe(0);
    expect(await rows('dlq')).toBe(0);
  });
});

describe('what is no longer kept', () => {
  it('is deleted, but no event that is still to be delivered', async () => {
    const endpoint = await one.make.endpoint({ url: one.receiver.url });
    await one.make.deliveries(endpoint, 4);
    await one.make.deliveries(await one.make.endpoint({ url: one.receiver.url, enabled: false }), 1);
    const dispatcher = await one.start();
    await one.settled({ delivered: 4, pending: 1 });
    await dispatcher.stop();
    await ageIds('delivery_done');
    await ageIds('event');
    await one.db
      .sql`update webhooks.delivery set event_id = left(event_id, 4) || '00' || substr(event_id, 7)`;
    await one.db.sql`
      insert into webhooks.idempotency (tenant_id, app_id, key, event_id, expires_at)
      values ('acme', 'default', 'old', 'evt', now() - interval '1 second'), ('acme', 'default', 'new', 'evt', now() + interval '1 day')`;
    await age('delivery_done', 'completed_at', '719 hours');
    await age('attempt', 'started_at', '719 hours');
    await age('event', 'created_at', '911 hours');
    await sweep();
    expect(await rows('delivery_done')).toBe(4);
    expect(await rows('attempt')).toBe(4);
    expect(await rows('event')).toBe(5);
    expect(await rows('idempotency')).toBe(1);
    await age('delivery_done', 'completed_at', '721 hours');
    await age('attempt', 'started_at', '721 hours');
    await age('event', 'created_at', '913 hours');
    await sweep();
    expect(await rows('delivery_done')).toBe(0);
    expect(await rows('attempt')).toBe(0);
    expect(await rows('event')).toBe(1);
    await one.db.sql`delete from webhooks.idempotency`;
  });

  it('includes dead letters', async () => {
    one.receiver.answer(() => 500);
    await one.make.deliveries(await one.make.endpoint({ url: one.receiver.url, max_attempts: 1 }), 2);
    await one.start();
    await one.settled({ failed: 2 });
    await age('dlq', 'failed_at', '721 hours');
    await sweep();
    expect(await rows('dlq')).toBe(0);
  });
});
