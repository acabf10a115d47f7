/** The intake of usage in this process, without HTTP in front, and the same rows without anything that counts them. */
import type { Database } from '../../src/db/index.ts';
import { createIntake, type Intake } from '../../src/services/billing/meter/intake.ts';
import { draftOf, type NewUsage } from '../../src/services/billing/meter/new-usage.ts';

const app = 'default';
const features = ['api_calls', 'storage', 'seats', 'messages'];

let nth = 0;
/** The next event of a tenant, checked and with an id, as both sides store it. */
export function usageOf(
  tenant: string,
  metadata: Record<string, unknown> = { region: 'eu', status: 200 },
): NewUsage {
  nth += 1;
  const sent = {
    feature_key: features[nth % features.length]!,
    quantity: nth % 100,
    idempotency_key: `req-${nth}`,
    metadata,
  };
  const terms = { now: Date.now(), lateWindowMs: 3_024_000_000, isOperator: false };
  const draft = draftOf(sent, { tenant, app, ...terms });
  if (draft.verdict === 'refused') throw new Error(draft.message);
  return draft.event;
}

/** @param mostTogether the most events of a transaction */
export const openMeter = (db: Database, mostTogether = 1_000): Intake =>
  createIntake({ db, mostWaiting: 100_000, mostTogether });

/** Gives tenants a subscription whose running month covers now, as far as the meter looks at it. */
export async function subscribe({ sql }: Database, tenants: readonly string[]): Promise<void> {
  const day = 86_400_000;
  const [start, end] = [new Date(Date.now() - day), new Date(Date.now() + 30 * day)];
  await sql`
    insert into billing.plan (app_id, id, slug, name, description, currency, status, trial_days, trial_requires_payment_method, revision,
      metadata, created_at, updated_at)
    values (${app}, 'plan_bench', 'bench', 'Bench', '', 'usd', 'active', 0, false, 1, '{}', ${start}, ${start})
    on conflict do nothing`;
  const offered = features.map((key) => ({
    key,
    name: key,
    type: 'metered',
    limit: -1,
    period: 'monthly',
    soft_limit: false,
  }));
  await sql`
    insert into billing.plan_revision (app_id, plan_id, revision, slug, currency, features, pricing, created_at)
    values (${app}, 'plan_bench', 1, 'bench', 'usd', ${JSON.stringify(offered)}::text::json, null, ${start})
    on conflict do nothing`;
  await sql`
    insert into billing.subscription (tenant_id, id, app_id, plan_id, status, starts_at, anchor, window_anchor, counts_from, billing_period,
      current_period_start, current_period_end, metadata, created_at, updated_at)
    select tenant, 'sub_' || tenant, ${app}, 'plan_bench', 'active', ${start}, ${start}, ${start}, ${start}, 'monthly', ${start}, ${end}, '{}', ${start},
      ${start}
    from unnest(${[...tenants]}::text[]) as tenant`;
  await sql`
    insert into billing.segment (tenant_id, subscription_id, app_id, starts_at, ends_at, kind, period_start, period_end, window_start,
      window_end, plan_id, revision, base_amount, base_plan_id, base_revision)
    select tenant, 'sub_' || tenant, ${app}, ${start}, ${end}, 'paid', ${start}, ${end}, ${start}, ${end}, 'plan_bench', 1, 0, 'plan_bench', 1
    from unnest(${[...tenants]}::text[]) as tenant`;
}

/** A table of the same columns and indexes, which nothing counts. */
export async function createPlainTable({ sql }: Database): Promise<void> {
  await sql`create table plain_usage (like billing.usage_event including all)`;
}

/** Inserts events as one would who does not count them: one statement with many rows, and its commit. */
export async function insertPlain({ sql }: Database, events: readonly NewUsage[]): Promise<void> {
  const of = (value: (event: NewUsage) => string | null) => events.map(value);
  await sql`
    insert into plain_usage (tenant_id, id, app_id, feature_key, quantity, idempotency_key, metadata, status, happened_at, accepted_at)
    select tenant_id, id, app_id, feature_key, quantity::numeric, idempotency_key, metadata::jsonb, 'counted', happened_at::timestamptz,
      accepted_at::timestamptz
    from unnest(
      ${of(({ tenant }) => tenant)}::text[], ${of(({ id }) => id)}::text[], ${of(({ app }) => app)}::text[],
      ${of(({ featureKey }) => featureKey)}::text[], ${of(({ quantity }) => quantity)}::text[],
      ${of(({ idempotencyKey }) => idempotencyKey)}::text[], ${of(({ metadata }) => metadata)}::text[],
      ${of(({ happenedAt }) => happenedAt)}::text[], ${of(({ acceptedAt }) => acceptedAt)}::text[]
    ) as given(tenant_id, id, app_id, feature_key, quantity, idempotency_key, metadata, happened_at, accepted_at)
    on conflict do nothing`;
}

/** Fills the history of a tenant with events of another month, which all its indexes hold. */
export async function fillHistory({ sql }: Database, tenant: string, events: number): Promise<void> {
  const perStatement = 25_000;
  for (let first = 0; first < events; first += perStatement)
    await sql`
      insert into billing.usage_event (tenant_id, id, app_id, feature_key, quantity, idempotency_key, metadata, status, happened_at, accepted_at)
      select ${tenant}, 'uevt_00' || lpad(nth::text, 24, '0'), ${app}, 'api_calls', 1, 'old-' || md5(nth::text), '{}', 'counted',
        timestamp '2025-01-01' at time zone 'UTC', timestamp '2025-01-01' at time zone 'UTC'
      from generate_series(${first}::integer, ${Math.min(events, first + perStatement) - 1}::integer) as nth`;
}
