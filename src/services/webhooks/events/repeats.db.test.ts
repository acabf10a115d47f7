import { describe, expect, it } from 'vitest';
import { accepting } from './testing.ts';

const world = accepting();
const { newTenant, post, batch, stored } = world;

describe('an idempotency key', () => {
  const body = { type: 'invoice.paid', idempotency_key: 'once' };

  it('used 1000 times at once makes one event', async () => {
    const tenant = newTenant();
    await world.api.endpoint({}, { tenant });
    const answers = await Promise.all(Array.from({ length: 1_000 }, () => post(body, { tenant })));
    expect(new Set(answers.map((answer) => answer.body.id as string)).size).toBe(1);
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(999);
    expect(await stored(tenant)).toEqual({ events: 1, deliveries: 1 });
  });

  it('returns the first event whatever else is sent, also after its type was deprecated', async () => {
    const tenant = newTenant();
    await world.api.type('key.type');
    const first = await world.api.event(
      { type: 'key.type', data: { a: 1 }, idempotency_key: 'k' },
      { tenant },
    );
    await world.api.send('DELETE', '/event-types/key.type');
    for (const type of ['key.type', 'invoice.paid', 'key.none']) {
      const { status, body: event } = await post({ type, data: { b: 2 }, idempotency_key: 'k' }, { tenant });
      expect([status, event]).toEqual([200, first]);
    }
  });

  it('is of one tenant and one app, and free again when it has expired', async () => {
    const [one, other] = [newTenant(), newTenant()];
    const first = await world.api.event(body, { tenant: one });
    expect((await post(body, { tenant: other })).status).toBe(201);
    await world.server.db
      .sql`update webhooks.idempotency set expires_at = now() - interval '1 second' where tenant_id = ${one}`;
    const second = await post(body, { tenant: one });
    expect([second.status, second.body.id === first.id]).toEqual([201, false]);
    expect((await post(body, { tenant: one })).body).toEqual(second.body);
  });

  it('of an event that was refused is free', async () => {
    const tenant = newTenant();
    const refused = { ...body, type: 'nowhere.known' };
    expect((await post(refused, { tenant })).status).toBe(404);
    expect((await post(body, { tenant })).status).toBe(201);
  });
});

describe('a batch', () => {
  it('takes good events and refuses bad ones, in order', async () => {
    await world.api.type('batch.deprecated');
    await world.api.send('DELETE', '/event-types/batch.deprecated');
    await world.api.type('batch.schema', { schema: { required: ['a'] } });
    const tenant = newTenant();
    const results = await batch(
      [
        { type: 'invoice.paid', idempotency_key: 'a', data: { n: 1 } },
        { type: 'batch.none' },
        { type: 'invoice.paid', idempotency_key: 'a', data: { n: 2 } },
        { type: 'batch.deprecated' },
        { type: 'batch.schema' },
        { type: 'invoice.paid', data: { a: 'x'.repeat(262_144) } },
        { type: 'batch.schema', data: { a: 1 } },
      ],
      { tenant },
    );
    expect(results.map(({ status, error }) => [status, error])).toEqual([
      [201, null],
      [404, 'event type not found: batch.none'],
      [200, null],
      [400, 'event type is deprecated: batch.deprecated'],
      [400, "data does not match the schema of batch.schema: data must have required property 'a'"],
      [413, 'data: larger than 262144 bytes'],
      [201, null],
    ]);
    expect(results[2]!.event).toEqual(results[0]!.event);
    expect(results[1]!.event).toBeNull();
    expect(await stored(tenant)).toMatchObject({ events: 2 });
  });

  it('of an event that the database refuses stores the others, in one request and in many', async () => {
    const { sql } = world.server.db;
    await world.api.type('poison');
    await sql`alter table webhooks.event add constraint test_poison check (type <> 'poison') not valid`;
    try {
      const tenant = newTenant();
      const good = { type: 'invoice.paid' };
      const results = await batch([good, { type: 'poison' }, good], { tenant });
      expect(results.map(({ status, error }) => [status, error])).toEqual([
        [201, null],
        [400, 'event: cannot be stored'],
        [201, null],
      ]);
      const bodies = Array.from({ length: 60 }, (_, at) => ({
        type: at % 10 === 0 ? 'poison' : 'invoice.paid',
      }));
      const answers = await Promise.all(bodies.map((body) => post(body, { tenant })));
      expect(answers.map(({ status }) => status)).toEqual(
        bodies.map(({ type }) => (type === 'poison' ? 500 : 201)),
      );
      expect(await stored(tenant)).toMatchObject({ events: 56 });
    } finally {
      await sql`alter table webhooks.event drop constraint test_poison`;
    }
  });

  it('takes 100 events and no more, and refuses a foreign tenant as a whole', async () => {
    const tenant = newTenant();
    const events = (count: number) => Array.from({ length: count }, () => ({ type: 'invoice.paid' }));
    expect(await batch(events(100), { tenant })).toHaveLength(100);
    for (const count of [0, 101])
      expect((await world.api.refusal('POST', '/events/batch', { body: { events: events(count) } }))[0]).toBe(
        400,
      );
    const foreign = { events: [{ type: 'invoice.paid' }, { type: 'invoice.paid', tenant_id: 'acme' }] };
    expect(await world.api.refusal('POST', '/events/batch', { tenant, body: foreign })).toEqual([
      403,
      "events[1].tenant_id: not the caller's own",
    ]);
    expect(await stored(tenant)).toMatchObject({ events: 100 });
  });
});
