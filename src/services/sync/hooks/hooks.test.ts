import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { testNode } from '../testing.ts';
import { createHooks, loadHooks } from './hooks.ts';

const log = pino({ level: 'silent' });
const context = { tenantId: 't', appId: 'a', subject: 's', nodeId: null, via: 'push' } as const;
const change = { tombstone: false, ...testNode('a').write('n1', 1) };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('a hook that does not answer within five seconds is given up', async () => {
  const hooks = createHooks([{ beforeInboundChange: () => new Promise(() => {}) }], log);
  const answer = expect(hooks.inbound([change], context)).rejects.toMatchObject({ kind: 'unavailable' });
  await vi.advanceTimersByTimeAsync(5_000);
  await answer;
});

test('all calls for one request have half a minute', async () => {
  const slow = () => new Promise<never>((_, reject) => setTimeout(() => reject(new Error('late')), 4_900));
  const seen = vi.fn(slow);
  const hooks = createHooks([{ afterInboundChange: seen }], log);
  const done = hooks.stored(
    Array.from({ length: 20 }, () => change),
    context,
  );
  await vi.advanceTimersByTimeAsync(40_000);
  await done;
  expect(seen).toHaveBeenCalledTimes(7);
});

test('without hooks, changes stay the same objects', async () => {
  const hooks = await loadHooks('', log);
  expect([hooks.seesOutbound, await hooks.inbound([change], context)]).toEqual([false, [change]]);
});

test('a module without hooks is refused when the server starts', async () => {
  const path = fileURLToPath(new URL('../limits.ts', import.meta.url));
  await expect(loadHooks(path, log)).rejects.toThrow('no default export with hooks');
});
