import { expect, it } from 'vitest';
import { monotonic } from '../../../db/clock.ts';
import { Turns } from './turns.ts';

/** Counts the turns of the event loop while work lasts. */
async function loopsDuring(work: Promise<unknown>): Promise<number> {
  let loops = 0;
  let lasts = true;
  const look = () => {
    loops++;
    if (lasts) setImmediate(look);
  };
  setImmediate(look);
  await work.finally(() => (lasts = false));
  return loops;
}

/** Keeps the thread for this long. */
function work(ms: number): void {
  for (const end = monotonic() + ms; monotonic() < end;);
}

it('tenants come one after the other, however much one of them has waiting', async () => {
  const turns = new Turns();
  const order: string[] = [];
  const take = async (tenant: string) => {
    await turns.next(tenant);
    order.push(tenant);
  };
  await Promise.all([
    ...Array.from({ length: 60 }, () => take('busy')),
    ...Array.from({ length: 3 }, () => take('calm')),
    take('late'),
  ]);
  expect(order.slice(0, 7)).toEqual(['busy', 'calm', 'late', 'busy', 'calm', 'busy', 'calm']);
  expect(order).toHaveLength(64);
});

it('short work shares a turn of the event loop', async () => {
  const turns = new Turns();
  const all = Promise.all(Array.from({ length: 48 }, () => turns.next('tenant')));
  expect(await loopsDuring(all)).toBeLessThan(12);
});

it('long work has a turn of the event loop to itself', async () => {
  const turns = new Turns();
  const all = Promise.all(Array.from({ length: 6 }, () => turns.next('tenant').then(() => work(5))));
  expect(await loopsDuring(all)).toBeGreaterThanOrEqual(5);
});

it('what waits again comes after the others of its tenant', async () => {
  const turns = new Turns();
  const order: string[] = [];
  const slices = async (name: string) => {
    for (let slice = 0; slice < 3; slice++) {
      await turns.next('tenant');
      order.push(`${name}${slice}`);
    }
  };
  await Promise.all([slices('a'), slices('b')]);
  expect(order).toEqual(['a0', 'b0', 'a1', 'b1', 'a2', 'b2']);
});
