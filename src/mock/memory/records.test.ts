import { describe, expect, it } from 'vitest';
import type { Document, Schema } from '../contract/document.ts';
import { actedOn, changedRecord, effectOf, fits, newRecord } from './records.ts';
import type { Resource } from '../contract/plans.ts';

const document: Document = { paths: {}, components: { schemas: {} } };
const text: Schema = { type: 'string' };
const maybe: Schema = { anyOf: [text, { type: 'null' }] };
const time: Schema = { type: 'string', format: 'date-time' };
const old = 'plan_01kekj4hm0ez2s1gqhd4r2btjz';
const resource: Resource = {
  name: 'Plan',
  members: {
    id: text,
    name: text,
    slug: text,
    note: maybe,
    tags: { type: 'array', items: text },
    state: { enum: ['active', 'archived'] },
    last_used_at: { anyOf: [time, { type: 'null' }] },
    starts_at: time,
    prices: {
      type: 'array',
      items: { type: 'object', properties: { id: text, amount: { type: 'integer' } } },
    },
    self: text,
    created_at: time,
    updated_at: time,
  },
  example: {
    id: old,
    name: 'Pro',
    slug: 'pro',
    note: 'n',
    tags: ['a'],
    state: 'active',
    last_used_at: '2026-01-03T00:00:00.000Z',
    starts_at: '2026-01-02T00:00:00.000Z',
    prices: [{ id: 'price_01kekj4hm0ez2s1gqhd4r2btjz', amount: 7 }],
    self: `/plans/${old}`,
    created_at: '2026-01-01T00:00:00.000Z',
    updated_at: '2026-01-01T00:00:00.000Z',
  },
};
const now = new Date('2026-11-20T12:00:00.000Z');
const make = (sent: Record<string, unknown>) =>
  newRecord(document, {
    resource,
    own: undefined,
    settable: new Set(['name', 'slug', 'note', 'tags', 'starts_at', 'prices']),
    sent,
    now,
  });

describe('a new record', () => {
  it('has an id of its own, wherever the example has its id', () => {
    const { id, self } = make({ name: 'x' });
    expect(id).toMatch(/^plan_[0-9a-z]{26}$/);
    expect(id).not.toBe(old);
    expect(self).toBe(`/plans/${String(id)}`);
  });

  it('was made now, and its other times keep their distance', () => {
    expect(make({ name: 'x' })).toMatchObject({
      created_at: '2026-11-20T12:00:00.000Z',
      updated_at: '2026-11-20T12:00:00.000Z',
      starts_at: '2026-11-21T12:00:00.000Z',
    });
  });

  it('has what was sent; of the rest what can be empty is', () => {
    expect(make({ name: 'Very Good!' })).toMatchObject({
      name: 'Very Good!',
      slug: 'very-good',
      note: null,
      tags: [],
      last_used_at: null,
      state: 'active',
    });
  });

  it('has what was sent in the shape that is answered', () => {
    const { prices, starts_at } = make({ prices: [{ amount: 1 }, { amount: 2 }], starts_at: '2027-01-01' });
    expect(prices).toMatchObject([{ amount: 1 }, { amount: 2 }]);
    const ids = (prices as { id: string }[]).map(({ id }) => id);
    expect(new Set(ids).size).toBe(2);
    expect(ids.join()).toMatch(/^price_\w{26},price_\w{26}$/);
    expect(starts_at).toBe('2027-01-01T00:00:00.000Z');
  });
});

describe('a changed record', () => {
  const change = (sent: Record<string, unknown>) =>
    changedRecord(document, resource, resource.example, sent, now);

  it('keeps what is absent, clears what is null, replaces lists', () => {
    expect(change({ note: null, tags: ['b'] })).toEqual({
      ...resource.example,
      note: null,
      tags: ['b'],
      updated_at: now.toISOString(),
    });
  });

  it('takes nothing that its schema forbids or does not know', () => {
    expect(change({ state: 'broken', other: 1 })).toMatchObject({ state: 'active' });
    expect(change({ other: 1 })).not.toHaveProperty('other');
  });
});

it('an action does what its example shows, at the time at which it is done', () => {
  const effect = effectOf(resource, {
    ...resource.example,
    state: 'archived',
    last_used_at: '2026-01-09T00:00:00.000Z',
    updated_at: '2026-01-09T00:00:00.000Z',
  });
  expect(Object.keys(effect)).toEqual(['state', 'last_used_at']);
  expect(actedOn(document, resource, resource.example, effect, { sent: {}, settable: [] }, now)).toEqual({
    ...resource.example,
    state: 'archived',
    last_used_at: now.toISOString(),
    updated_at: now.toISOString(),
  });
});

it('an action keeps the reason that was sent, not that of the example', () => {
  const ended = { ...resource, members: { ...resource.members, end_reason: maybe } };
  const effect = { end_reason: 'of the example' };
  const act = (sent: Record<string, unknown>) =>
    actedOn(document, ended, resource.example, effect, { sent, settable: ['reason'] }, now);
  expect(act({ reason: 'mine' })).toMatchObject({ end_reason: 'mine' });
  expect(act({})).toMatchObject({ end_reason: null });
});

it.each<[Schema, unknown, boolean]>([
  [text, 'a', true],
  [text, 1, false],
  [text, null, false],
  [maybe, null, true],
  [{ type: 'integer' }, 1, true],
  [{ type: 'string', pattern: '^ten_' }, 'acme', false],
  [{ enum: ['a', 'b'] }, 'c', false],
  [time, '2026-01-01', false],
])('%o fits %o: %s', (schema, value, does) => expect(fits(document, schema, value)).toBe(does));
