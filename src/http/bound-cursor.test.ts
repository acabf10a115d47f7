import { expect, test } from 'vitest';
import { operations } from '../../generated/operations.ts';
import { boundCursor } from './bound-cursor.ts';
import type { Call } from './call.ts';
import type { Operation } from './operation.ts';

const operation = (id: string, ...names: string[]) =>
  ({
    ...{ service: 'demo', id },
    parameters: names.map((name) => ({ name, in: 'query', required: false })),
  }) as unknown as Operation;
const call = (tenant = 'default', app = 'default') =>
  ({ tenant, app, reply: { headers: { 'X-Next-Cursor': 'cGxhY2U' } } }) as unknown as Call;

const list = boundCursor(operation('Things_list', 'limit', 'offset', 'cursor', 'kind'))!;

function handedOut(request: object, of: Call = call()): string {
  list.close({ ...request }, of, undefined);
  return String(of.reply.headers!['X-Next-Cursor']);
}

test('a list takes its own cursors back as it wrote them, whatever the size of the page', () => {
  const cursor = handedOut({ kind: 'a', limit: 5, offset: 0 });
  const request = { kind: 'a', limit: 7, offset: 0, cursor };
  list.open(request, call());
  expect(request.cursor).toBe('cGxhY2U');
  expect(cursor).toMatch(/^[A-Za-z0-9_-]+$/);
});

test.each<[what: string, request: object, of: Call]>([
  ['other filters', { kind: 'b' }, call()],
  ['no filters', {}, call()],
  ['another tenant', { kind: 'a' }, call('other')],
  ['another app', { kind: 'a' }, call('default', 'other')],
])('but not with %s', (_, request, of) => {
  const cursor = handedOut({ kind: 'a' });
  expect(() => list.open({ ...request, cursor }, of)).toThrow('cursor: must be one that this list gave');
});

test('a cursor in an envelope is one too, and null stays null', () => {
  const none = { tenant: 'default', app: 'default', reply: {} } as unknown as Call;
  const page = { items: [], next_cursor: 'cGxhY2U' };
  list.close({ kind: 'a' }, none, page);
  const request = { kind: 'a', cursor: page.next_cursor };
  list.open(request, none);
  expect(request.cursor).toBe('cGxhY2U');
  const last = { items: [], next_cursor: null };
  list.close({ kind: 'a' }, none, last);
  expect(last).toEqual({ items: [], next_cursor: null });
});

test('nor those of another list, nor made-up ones', () => {
  const other = boundCursor(operation('Others_list', 'cursor', 'kind'))!;
  expect(() => other.open({ kind: 'a', cursor: handedOut({ kind: 'a' }) }, call())).toThrow(/^cursor: /);
  for (const cursor of ['', 'A', 'AAAAAAAA', 'e30', 'cGxhY2U'])
    expect(() => list.open({ cursor }, call())).toThrow(/^cursor: /);
});

test('a cursor with an offset is refused, also one that this list gave', () => {
  for (const cursor of ['e30', handedOut({ kind: 'a' })])
    expect(() => list.open({ kind: 'a', offset: 1, cursor }, call())).toThrow(
      'cursor: cannot be combined with offset',
    );
});

const paged = operations.filter(
  ({ parameters }) =>
    parameters.some(({ name }) => name === 'cursor') && parameters.some(({ name }) => name === 'offset'),
);

test.each(paged.map((one) => [one.service, one.id, one] as const))(
  '%s %s says the same about a cursor with an offset',
  (_service, _id, one) => {
    expect(() => boundCursor(one)!.open({ cursor: 'e30', offset: 1 }, call())).toThrow(
      /^cursor: cannot be combined with offset$/,
    );
  },
);

test('an operation without cursors has none to bind', () => {
  expect(boundCursor(operation('Things_get', 'limit'))).toBeUndefined();
});
