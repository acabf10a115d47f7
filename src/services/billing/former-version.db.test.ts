/**
 * What the version before has stored, and what its servers go on storing until they are replaced, although the database is that of this
 * version.
 */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TestServer } from '../../testing/server.ts';
import { debtor } from './payments/testing.ts';
import { periodAt } from './periods/calendar.ts';
import { serverBy, TestClock, tools } from './testing.ts';

const clock = new TestClock('2026-01-15T10:00:00Z');
let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await serverBy(clock);
  api = tools(server);
});
afterAll(() => server.close());

it('a subscription that one of them stores counts from its own start', async () => {
  const { sql } = server.db;
  const { id: plan_id } = await api.plan();
  const [starts_at, created_at] = [new Date('2026-01-15T10:00:00Z'), new Date('2026-01-15T10:00:00Z')];
  const anchor = new Date('2026-01-29T10:00:00Z');
  await sql`insert into billing.subscription ${sql({
    ...{ tenant_id: 'former', app_id: 'default', id: 'sub_01h455vb4pex5vsknk084sn02q', plan_id },
    ...{ status: 'canceled', starts_at, anchor, billing_period: 'monthly' },
    ...{ current_period_start: anchor, current_period_end: new Date('2026-02-28T10:00:00Z') },
    ...{ metadata: {}, created_at, updated_at: created_at },
  })}`;
  const [row] = await sql<{ window_anchor: string; counts_from: string }[]>`
    select window_anchor, counts_from from billing.subscription where tenant_id = 'former'`;
  expect(row).toEqual({ window_anchor: anchor.toISOString(), counts_from: starts_at.toISOString() });
});

it('a segment that is stored already lies in the year of the tenant’s months in which a new one would', async () => {
  const { sql } = server.db;
  const { id: plan_id } = await api.plan();
  const anchored = [
    ['2024-02-29T10:00:00Z', '2028-02-28T10:00:00Z'],
    ['2024-02-29T10:00:00Z', '2029-02-28T10:00:00Z'],
    ['2024-03-15T10:00:00Z', '2030-03-15T09:59:59Z'],
    ['2024-03-15T10:00:00Z', '2030-03-15T10:00:00Z'],
  ] as const;
  for (const [at, [from, to]] of anchored.entries()) {
    const [anchor, starts_at, end] = [new Date(from), new Date(to), new Date('2040-01-01T00:00:00Z')];
    const owner = { tenant_id: `segment-${at}`, app_id: 'default' };
    await sql`insert into billing.subscription ${sql({
      ...{ ...owner, id: 'sub_1', plan_id, status: 'canceled', starts_at: anchor, anchor },
      ...{ billing_period: 'yearly', current_period_start: starts_at, current_period_end: end },
      ...{ metadata: {}, created_at: anchor, updated_at: anchor },
    })}`;
    await sql`insert into billing.segment ${sql({
      ...{ ...owner, subscription_id: 'sub_1', starts_at, ends_at: end, kind: 'paid' },
      ...{ period_start: starts_at, period_end: end, window_start: starts_at, window_end: end },
      ...{ plan_id, revision: 1, base_amount: 0, base_plan_id: plan_id, base_revision: 1 },
    })}`;
  }
  const file = await readFile(new URL('migrations/0010_tenant_windows.sql', import.meta.url), 'utf8');
  await sql.unsafe(/update billing\.segment [^;]+;/.exec(file)![0]);
  const rows = await sql<{ year_start: string }[]>`
    select year_start from billing.segment where tenant_id like 'segment-%' order by tenant_id`;
  const years = anchored.map(([from, to]) => periodAt(Date.parse(from), 'yearly', Date.parse(to)).start);
  expect(rows.map(({ year_start }) => year_start)).toEqual(years.map((at) => new Date(at).toISOString()));
});

it('a draft without a number that one of them makes final gets the next one, and its discount is not granted again', async () => {
  const { sql } = server.db;
  await api.customer('numbered');
  const plan = await api.plan();
  const first = await api.finalize(await api.draft(await api.subscribe('numbered', plan)));
  const { tenant, invoice } = await debtor(server.db, { at: clock.now(), status: 'draft' });
  const discounts = [{ coupon_id: 'cpn_01h455vb4pex5vsknk084sn02q', code: 'SPRING', amount: 500 }];
  const figures = { discounts, discount_amount: 500, subtotal: 5_500 };
  await sql`update billing.invoice set number = null where tenant_id = ${tenant} and id = ${invoice}`;
  await sql`
    update billing.invoice set ${sql({ ...figures, status: 'pending', finalized_at: new Date(clock.now()) })}
    where tenant_id = ${tenant} and id = ${invoice}`;
  expect([first.number, (await api.invoice(invoice)).number]).toEqual(['INV-2026-000001', 'INV-2026-000002']);
  expect(await sql`select code_key, amount from billing.coupon_use where tenant_id = ${tenant}`).toEqual([
    { code_key: 'spring', amount: 500 },
  ]);
  const second = await api.finalize(await draftOfNew());
  expect(second.number).toBe('INV-2026-000003');
});

async function draftOfNew() {
  await api.customer('next');
  return await api.draft(await api.subscribe('next', await api.plan()));
}
