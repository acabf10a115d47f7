import type { Sql } from '../../../db/index.ts';
import type { GroupKey } from './owed.ts';
import { nameOf, type Settlement, type Settlements } from './settlement.ts';

/** A subscription, by its tenant. */
export interface SubscriptionKey {
  readonly tenant_id: string;
  readonly id: string;
}

interface SettlementRow {
  readonly period_start: string;
  readonly plan_id: string;
  readonly revision: number;
  readonly feature_key: string;
  /** As text: several invoices may together have billed more than a number shows exactly. */
  readonly amount: string;
  readonly was_over: boolean;
  readonly invoices: number;
}

/** Every statement about what final invoices have billed of a subscription. Its row is locked when they change. */
export const settlementStore = (sql: Sql) => ({
  async list({ tenant_id, id }: SubscriptionKey, after: number): Promise<Map<string, Settlement>> {
    const rows = await sql<SettlementRow[]>`
      select period_start, plan_id, revision, feature_key, amount::text, was_over, invoices from billing.settlement
      where tenant_id = ${tenant_id} and subscription_id = ${id} and period_start >= ${new Date(after)}`;
    return new Map(
      rows.map((row) => [
        nameOf(keyOf(row)),
        { amount: BigInt(row.amount), wasOver: row.was_over, invoices: row.invoices },
      ]),
    );
  },

  /** Stores what has changed between two states of the settlements of some groups. */
  async replace(
    { tenant_id, id }: SubscriptionKey,
    groups: readonly GroupKey[],
    after: Settlements,
  ): Promise<void> {
    const unique = [...new Map(groups.map((key) => [nameOf(key), key])).values()];
    if (unique.length === 0) return;
    const kept = unique.flatMap((key) => {
      const settlement = after.get(nameOf(key));
      return settlement === undefined ? [] : [{ key, settlement }];
    });
    const gone = unique.filter((key) => !after.has(nameOf(key)));
    if (gone.length > 0)
      await sql`
        delete from billing.settlement using ${groupsIn(sql, gone)}
        where settlement.tenant_id = ${tenant_id} and subscription_id = ${id} and ${isSameGroup(sql)}`;
    if (kept.length > 0)
      await sql`
        insert into billing.settlement
          (tenant_id, subscription_id, period_start, plan_id, revision, feature_key, amount, was_over, invoices)
        select ${tenant_id}, ${id}, period_start::timestamptz, plan_id, revision, feature_key, amount::bigint, was_over, invoices
        from unnest(
          ${kept.map(({ key }) => new Date(key.periodStart).toISOString())}::text[], ${kept.map(({ key }) => key.planId)}::text[],
          ${kept.map(({ key }) => key.revision)}::integer[], ${kept.map(({ key }) => key.featureKey ?? '')}::text[],
          ${kept.map(({ settlement }) => String(settlement.amount))}::text[],
          ${kept.map(({ settlement }) => String(settlement.wasOver))}::text[]::boolean[],
          ${kept.map(({ settlement }) => settlement.invoices)}::integer[]
        ) as kept(period_start, plan_id, revision, feature_key, amount, was_over, invoices)
        on conflict on constraint settlement_pkey do update
        set amount = excluded.amount, was_over = excluded.was_over, invoices = excluded.invoices`;
  },
});

const groupsIn = (sql: Sql, keys: readonly GroupKey[]) => sql`
  unnest(
    ${keys.map(({ periodStart }) => new Date(periodStart).toISOString())}::text[], ${keys.map(({ planId }) => planId)}::text[],
    ${keys.map(({ revision }) => revision)}::integer[], ${keys.map(({ featureKey }) => featureKey ?? '')}::text[]
  ) as gone(period_start, plan_id, revision, feature_key)`;

const isSameGroup = (sql: Sql) => sql`
  settlement.period_start = gone.period_start::timestamptz and settlement.plan_id = gone.plan_id
  and settlement.revision = gone.revision and settlement.feature_key = gone.feature_key`;

const keyOf = (row: SettlementRow): GroupKey => ({
  periodStart: Date.parse(row.period_start),
  planId: row.plan_id,
  revision: row.revision,
  featureKey: row.feature_key === '' ? null : row.feature_key,
});
