import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Subscription } from '../../../../generated/billing/types.ts';
import type { TestServer } from '../../../testing/server.ts';
import { serverBy, TestClock, tools } from '../testing.ts';
import { sweeping } from '../testing/sweeping.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
let sweep: () => Promise<void>;
let tenants = 0;
let tenant: string;
const clock = new TestClock('2026-01-15T10:00:00Z');
beforeAll(async () => {
  server = await serverBy(clock);
  api = tools(server);
  sweep = sweeping(server, clock);
});
beforeEach(() => {
  tenant = `tenant-${(tenants += 1)}`;
  clock.turn('2026-01-15T10:00:00Z');
});
afterAll(() => server.close());

const ask = (what: string, { id }: Subscription): Promise<Subscription> =>
  api.send('POST', `/billing/subscriptions/${id}/${what}`);

it('a pause of more than a year does not write off what was used before it', async () => {
  const subscription = await api.subscribe(tenant, await api.plan());
  clock.turn('2026-01-20T10:00:00Z');
  await ask('pause', subscription);
  clock.turn('2027-06-01T10:00:00Z');
  await ask('resume', subscription);
  const [invoice] = await api.invoices(subscription);
  expect(invoice).toMatchObject({ total: { amount: 790 }, period_start: '2026-01-15T10:00:00.000Z' });
});

describe('a pause whose cancellation is withdrawn', () => {
  /** A subscription that is paused after five days, and neither canceled nor to be canceled. */
  async function paused(): Promise<Subscription> {
    const subscription = await api.subscribe(tenant, await api.plan());
    clock.turn('2026-01-20T10:00:00Z');
    await ask('pause', subscription);
    await ask('cancel', subscription);
    return await ask('uncancel', subscription);
  }

  it('bills nothing and counts nothing beyond the end of its period', async () => {
    const subscription = await paused();
    clock.turn('2026-02-20T10:00:00Z');
    await sweep();
    await api.use(tenant, 'api_calls', 20_000);
    clock.turn('2026-03-01T10:00:00Z');
    const resumed = await ask('resume', subscription);
    expect(resumed).toMatchObject({ status: 'active', current_period_start: '2026-03-01T10:00:00.000Z' });
    for (const time of ['2026-03-01T11:00:00Z', '2026-04-01T10:00:00Z']) {
      clock.turn(time);
      await sweep();
    }
    // Five of the 31 days of the first period, and the first period after the pause.
    expect((await api.invoices(subscription)).map(({ total }) => total.amount)).toEqual([790, 4900]);
  });

  it('can end in any later period', async () => {
    const subscription = await paused();
    clock.turn('2026-09-01T10:00:00Z');
    expect(await ask('resume', subscription)).toMatchObject({
      status: 'active',
      current_period_start: '2026-09-01T10:00:00.000Z',
    });
  });

  it('can end within its period, which then goes on', async () => {
    const subscription = await paused();
    clock.turn('2026-02-01T10:00:00Z');
    await ask('resume', subscription);
    clock.turn('2026-02-15T12:00:00Z');
    await sweep();
    // 790 until the pause, and 14 of 31 days after it.
    expect((await api.invoices(subscription)).map(({ total }) => total.amount)).toEqual([3003]);
  });
});
