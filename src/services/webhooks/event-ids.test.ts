import { expect, it } from 'vitest';
import { newId } from '../../lib/ids.ts';
import { firstIdAt, newEventId } from './event-ids.ts';

it('the moment of an event is in its id', () => {
  const { id, created_at } = newEventId();
  const moment = created_at.toISOString();
  const next = new Date(created_at.getTime() + 1).toISOString();
  expect(firstIdAt(moment) <= id).toBe(true);
  expect(firstIdAt(next) > id).toBe(true);
});

it.each(['0001-01-01T00:00:00.000Z', '1969-12-31T23:59:59.999Z'])('%s is before every event', (moment) => {
  expect(firstIdAt(moment) <= newId('evt', 0)).toBe(true);
});

it('a far future is after every event of today', () => {
  expect(firstIdAt('9999-12-31T23:59:59.999Z') > newEventId().id).toBe(true);
});
