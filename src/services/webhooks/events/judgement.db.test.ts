import { describe, expect, it } from 'vitest';
import { accepting } from './testing.ts';

const world = accepting();
const { newTenant, stored } = world;

describe('the catalogue', () => {
  const refused = async (type: string, data: object = {}) => {
    const tenant = newTenant();
    await world.api.endpoint({}, { tenant });
    const refusal = await world.api.refusal('POST', '/events', { tenant, body: { type, data } });
    expect(await stored(tenant)).toEqual({ events: 0, deliveries: 0 });
    return refusal;
  };

  it('decides, and what it refuses leaves nothing behind', async () => {
    const schema = { properties: { amount: { type: 'integer' } }, required: ['amount'] };
    await world.api.type('judged.type', { schema });
    expect(await refused('judged.none')).toEqual([404, 'event type not found: judged.none']);
    expect(await refused('judged.type', { amount: 'x' })).toEqual([
      400,
      'data does not match the schema of judged.type: /amount must be integer',
    ]);
    await world.api.event({ type: 'judged.type', data: { amount: 1 } });
    await world.api.send('DELETE', '/event-types/judged.type');
    expect(await refused('judged.type', { amount: 1 })).toEqual([
      400,
      'event type is deprecated: judged.type',
    ]);
  });

  it('that another process changed applies to the next event', async () => {
    const { sql } = world.server.db;
    await world.api.type('changed.type');
    const send = (data: object) =>
      world.api.refusal('POST', '/events', { body: { type: 'changed.type', data } });
    expect((await send({ a: 1 }))[0]).toBe(201);
    const schema = '{"properties":{"a":{"type":"string"}}}';
    await sql`update webhooks.event_type set schema = ${schema}::text::json, schema_hash = 'other' where name = 'changed.type'`;
    expect((await send({ a: 1 }))[0]).toBe(400);
    expect((await send({ a: 'x' }))[0]).toBe(201);
    await sql`update webhooks.event_type set schema = null, schema_hash = null where name = 'changed.type'`;
    expect((await send({ a: 1 }))[0]).toBe(201);
    await sql`update webhooks.event_type set deprecated_at = now() where name = 'changed.type'`;
    expect((await send({ a: 1 }))[0]).toBe(400);
    await sql`update webhooks.event_type set deprecated_at = null where name = 'changed.type'`;
    expect((await send({ a: 1 }))[0]).toBe(201);
    await sql`delete from webhooks.event_type where name = 'changed.type'`;
    expect((await send({ a: 1 }))[0]).toBe(404);
  });

  it('knows the types of the platform, which only the operator may send unregistered', async () => {
    const tenant = newTenant();
    await world.api.endpoint({ event_types: ['keys.*'] }, { tenant });
    const body = { type: 'keys.key.revoked', tenant_id: tenant, data: { any: 'thing' } };
    expect(await world.api.event(body)).toMatchObject({ tenant_id: tenant, delivery_count: 1 });
    expect(await world.api.refusal('POST', '/events', { tenant, body })).toEqual([
      404,
      'event type not found: keys.key.revoked',
    ]);
    expect((await world.api.refusal('POST', '/events', { body: { ...body, type: 'keys.unknown' } }))[0]).toBe(
      404,
    );
  });
});
