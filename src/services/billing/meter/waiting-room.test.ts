import { expect, it } from 'vitest';
import { createWaitingRoom } from './waiting-room.ts';

const events = (tenant: string, count: number, bytes = 1) =>
  Array.from({ length: count }, () => ({ tenant, bytes }));

it('a tenant has at most half of the room, and gets back what it leaves', () => {
  const room = createWaitingRoom({ events: 10, bytes: 1_000 });
  const leave = room.enter(events('a', 5));
  expect(leave).toBeDefined();
  expect(room.enter(events('a', 1))).toBeUndefined();
  expect(room.enter(events('b', 5))).toBeDefined();
  expect(room.load()).toEqual({ waiting: 10, refused: 1 });
  leave!();
  expect(room.enter(events('a', 5))).toBeDefined();
});

it('all tenants together have no more than the whole', () => {
  const room = createWaitingRoom({ events: 10, bytes: 1_000 });
  for (const tenant of ['a', 'b', 'c']) expect(room.enter(events(tenant, 3))).toBeDefined();
  expect(room.enter(events('d', 2))).toBeUndefined();
  expect(room.enter(events('d', 1))).toBeDefined();
});

it('bytes are bounded as events are', () => {
  const room = createWaitingRoom({ events: 100, bytes: 1_000 });
  expect(room.enter(events('a', 1, 501))).toBeUndefined();
  expect(room.enter(events('a', 1, 500))).toBeDefined();
  expect(room.enter(events('b', 1, 500))).toBeDefined();
  expect(room.enter(events('c', 1, 1))).toBeUndefined();
});

it('a request is admitted as a whole or not at all', () => {
  const room = createWaitingRoom({ events: 10, bytes: 1_000 });
  expect(room.enter([...events('b', 1), ...events('a', 6)])).toBeUndefined();
  expect(room.enter([...events('b', 5), ...events('a', 5)])).toBeDefined();
  expect(room.load()).toEqual({ waiting: 10, refused: 1 });
});
