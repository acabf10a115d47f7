import { expect, test } from 'vitest';
import type { Database } from '../../../db/index.ts';
import { readSettings } from '../../../lib/settings.ts';
import { settings } from '../settings.ts';
import { createPushLine } from './push-line.ts';
import type { Push } from './push.store.ts';

/** A line whose statements wait until they are let through. */
function heldLine() {
  let open = () => {};
  const gate = new Promise<void>((resolve) => (open = resolve));
  // Of the parameters of the statement, the first array has an item for each push.
  const sql = async (_: TemplateStringsArray, ...values: unknown[]) => {
    await gate;
    return (values.find(Array.isArray) as unknown[]).map(() => ({ verdict: 'ok', now_ms: 0, reading: '0' }));
  };
  const db = { sql } as unknown as Database;
  return { line: createPushLine({ db, settings: readSettings(settings, {}) }), open };
}

const mebibyte = 1024 ** 2;
const dataset = { tenant: 'acme', app: 'default' };
const push = (weight: number): Push => ({
  ...{ node: 'phone-1', subject: { owner: 'user:1', exempt: false, actor: 'user_1', requestId: 'r' } },
  arrivals: {
    ...{ cells: [], highest: 0n, tables: new Map<string, string>(), counts: {}, replaced: 0, weight },
  },
  events: { claimed: 'evt_1', pushed: 'evt_2', pushedData: null },
});

test.each([
  ['1,000 pushes', 1_000, 1],
  ['64 MiB', 8, 8 * mebibyte],
])('when %s of a data set wait, more are refused, and others are not', async (_, room, weight) => {
  const { line, open } = heldLine();
  const waiting = Array.from({ length: room }, () => line.merge(dataset, push(weight)));
  await expect(line.merge(dataset, push(weight))).rejects.toMatchObject({
    ...{ kind: 'unavailable', message: 'busy', retryAfter: 1 },
  });
  expect(line.figures().refused).toBe(1);
  const other = line.merge({ tenant: 'other', app: 'default' }, push(weight));
  open();
  for (const one of [...waiting, other]) expect((await one).verdict).toBe('ok');
  expect((await line.merge(dataset, push(weight))).verdict).toBe('ok');
  expect(line.figures()).toMatchObject({ running: 0, waiting: 0 });
});
