import type { Coupon, RedeemedCoupon } from '../../../../generated/billing/types.ts';
import type { Sql } from '../../../db/index.ts';
import { counted, onePage, type PageRequest, readPage } from '../pages.store.ts';
import type { SubscriptionRow } from '../subscriptions/subscriptions.store.ts';
import type { CouponUse } from './grants.ts';

/** A coupon as it is stored. */
export interface CouponRow extends Omit<Coupon, 'amount' | 'active'> {
  /** Minor units of its currency; null for a percentage. */
  readonly amount: number | null;
}

/** What was deducted for a code in a billing period, as it is stored. */
export interface StoredUse {
  readonly start: string;
  readonly end: string;
  readonly amount: string;
}

export const useOf = ({ start, end, amount }: StoredUse): CouponUse => ({
  period: { start: Date.parse(start), end: Date.parse(end) },
  amount: BigInt(amount),
});

export interface CouponFilter {
  /** Whether the coupons may be redeemed. */
  readonly active?: boolean | undefined;
  readonly now: number;
}

/** Every statement about coupons and their redemptions. Deleted coupons are found by none, and keep their redemptions. */
export const couponStore = (sql: Sql) => ({
  /** @throws the violation of `coupon_code` when another coupon of the app has the code */
  async insert({ amount, ...row }: CouponRow): Promise<void> {
    await sql`insert into billing.coupon ${sql({ ...row, amount: amount === null ? null : String(amount) })}`;
  },

  /** Finds a coupon by its id or its code. */
  async find(app: string, ref: string): Promise<CouponRow | undefined> {
    const [row] = await sql<
      CouponRow[]
    >`select ${columns(sql)} from billing.coupon where ${isNamed(sql, app, ref)}`;
    return row;
  },

  async list(app: string, { active, now }: CouponFilter, page: PageRequest) {
    const inTime = sql`(${isRedeemable(sql, now)})`;
    const rows = sql`
      from billing.coupon
      where app_id = ${app} and deleted_at is null
        ${active === undefined ? sql`` : active ? sql`and ${inTime}` : sql`and not ${inTime}`}`;
    return await readPage(
      sql<CouponRow[]>`select ${columns(sql)} ${rows} ${onePage(sql, page)}`,
      counted(sql, rows),
    );
  },

  /** Locks a coupon until the end of the transaction, against every other change of it and its redemption. */
  async lock(app: string, ref: string): Promise<CouponRow | undefined> {
    const [row] = await sql<CouponRow[]>`
      select ${columns(sql)} from billing.coupon where ${isNamed(sql, app, ref)} for no key update`;
    return row;
  },

  async update({
    app_id,
    id,
    name,
    max_redemptions,
    valid_until,
    metadata,
    updated_at,
  }: CouponRow): Promise<void> {
    await sql`
      update billing.coupon set ${sql({ name, max_redemptions, valid_until, metadata, updated_at })}
      where app_id = ${app_id} and id = ${id}`;
  },

  /** Makes a coupon unreachable and its code free. Returns false when there is no such coupon. */
  async delete(app: string, ref: string, at: number): Promise<boolean> {
    const { count } =
      await sql`update billing.coupon set deleted_at = ${new Date(at)} where ${isNamed(sql, app, ref)}`;
    return count > 0;
  },

  /** The uses of a code by a tenant, and whether it was redeemed for a subscription, also as that of a coupon that was deleted since. */
  async history(
    { tenant_id, app_id, id }: Pick<SubscriptionRow, 'tenant_id' | 'app_id' | 'id'>,
    code: string,
  ): Promise<{ readonly uses: readonly CouponUse[]; readonly hadCode: boolean }> {
    const key = code.toLowerCase();
    const uses = await sql<StoredUse[]>`
      select period_start as start, max(period_end) as end, sum(amount)::text as amount from billing.coupon_use
      where tenant_id = ${tenant_id} and app_id = ${app_id} and code_key = ${key}
      group by period_start order by period_start`;
    const had = await sql`
      select from billing.redemption
      where tenant_id = ${tenant_id} and app_id = ${app_id} and subscription_id = ${id} and lower(code) = ${key} limit 1`;
    return { uses: uses.map(useOf), hadCode: had.length > 0 };
  },

  /** Takes one of the redemptions that are left. Returns false when none is, or when the coupon is not valid at the time. */
  async take({ app_id, id }: CouponRow, at: number): Promise<boolean> {
    const { count } = await sql`
      update billing.coupon set times_redeemed = times_redeemed + 1, updated_at = ${new Date(at)}
      where app_id = ${app_id} and id = ${id} and deleted_at is null and ${isRedeemable(sql, at)}`;
    return count > 0;
  },

  /**
   * Attaches the discount of a coupon to a subscription, as it is now.
   *
   * @throws the violation of `redemption_pkey` when it was redeemed for the subscription before
   */
  async attach(
    coupon: CouponRow,
    { tenant_id, id, position }: Redeemer,
    { applied_at }: RedeemedCoupon,
  ): Promise<void> {
    const { app_id, code, type, percentage, amount, currency, duration, duration_periods } = coupon;
    const discount = {
      code,
      type,
      percentage,
      amount: amount === null ? null : String(amount),
      currency,
      duration,
      duration_periods,
    };
    await sql`
      insert into billing.redemption
      ${sql({ tenant_id, subscription_id: id, coupon_id: coupon.id, app_id, ...discount, applied_at, position })}`;
  },

  /** When a coupon was redeemed for a subscription that has it. */
  async appliedAt(coupon: CouponRow, { tenant_id, id }: Omit<Redeemer, 'position'>): Promise<string> {
    const [row] = await sql<[{ applied_at: string }]>`
      select applied_at from billing.redemption
      where tenant_id = ${tenant_id} and subscription_id = ${id} and coupon_id = ${coupon.id}`;
    return row.applied_at;
  },
});

/** The subscription for which a coupon is redeemed, and the place among its coupons. */
interface Redeemer extends Pick<SubscriptionRow, 'tenant_id' | 'id'> {
  readonly position: number;
}

/** An id begins with its prefix, and a code never does. */
const isNamed = (sql: Sql, app: string, ref: string) => sql`
  app_id = ${app} and deleted_at is null
  and ${ref.startsWith('cpn_') ? sql`id = ${ref}` : sql`lower(code) = ${ref.toLowerCase()}`}`;

const isRedeemable = (sql: Sql, at: number) => sql`
  (valid_from is null or valid_from <= ${new Date(at)}) and (valid_until is null or valid_until > ${new Date(at)})
  and (max_redemptions = 0 or times_redeemed < max_redemptions)`;

const columns = (sql: Sql) => sql`
  id, code, name, type, percentage, amount, currency, duration, duration_periods, max_redemptions, times_redeemed, valid_from, valid_until,
  app_id, metadata, created_at, updated_at`;
