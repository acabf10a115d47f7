import type { Sql } from '../../../db/index.ts';
import type { Deps } from '../deps.ts';
import type { Segment } from '../periods/segments.ts';
import { revisionStore } from '../plans/revisions.store.ts';
import { type Owner, segmentStore } from '../subscriptions/segments.store.ts';
import { accountStore, type DraftKey, type PayerRow } from './account.store.ts';
import { creditsOf, type Return } from './credits.ts';
import { figuresOf, type Figures, type InvoiceTerms } from './figures.ts';
import type { Line } from './lines.ts';
import { type Account, type OtherUse, owedBy, type Owed } from './owed.ts';
import { pricedPlan } from './priced-plan.ts';
import { unsettledLines, type Settlements } from './settlement.ts';
import { settlementStore } from './settlements.store.ts';

/** The subscription that an invoice is of. */
export interface Billed extends Owner {
  readonly customer_id: string | null;
  /** When the tenant's seats began to be counted. */
  readonly counts_from: string;
}

/** Which charges an invoice has. */
export interface Scope {
  /** Periods count as they stood at this time, in milliseconds since 1970. */
  readonly asOf: number;
  /** Whether the running period counts as far as it has come, besides the periods that have ended. */
  readonly withRunning: boolean;
  /** The draft that is computed, which leaves to other drafts what they show; without it, they do not count. */
  readonly draft?: DraftKey;
}

/** An invoice as it would be now. */
export interface Computed {
  readonly lines: readonly Line[];
  readonly returns: readonly Return[];
  readonly figures: Figures;
  readonly terms: InvoiceTerms;
  readonly payer: PayerRow | undefined;
  readonly owed: readonly Owed[];
  readonly settlements: Settlements;
  /** What other drafts show, by the names of the groups. */
  readonly shown: ReadonlyMap<string, bigint>;
}

/** Periods that ended longer ago are closed: 13 months, so that each period of a yearly plan can still be corrected. */
const closedAfterMs = 400 * 86_400_000;

/**
 * Computes what a subscription owes minus what was settled.
 * @param lock whether the payer is locked, so that its credit cannot be used twice
 */
export async function computed(
  sql: Sql,
  { revisions }: Pick<Deps, 'revisions'>,
  billed: Billed,
  { asOf, withRunning, draft, currency, lock }: Scope & { readonly currency: string; readonly lock: boolean },
): Promise<Computed> {
  const store = accountStore(sql);
  const segments = await segmentStore(sql).list(billed, asOf - closedAfterMs);
  const [planOf, settlements, shown, coupons, payer] = await Promise.all([
    plansOf(sql, revisions, billed.app_id, segments),
    settlementStore(sql).list(billed, segments[0]?.period.start ?? asOf),
    draft === undefined ? new Map<string, bigint>() : store.shown(billed, draft),
    store.coupons(billed, { currency, lock }),
    store.payer(billed, { customerId: billed.customer_id, currency, lock }),
  ]);
  const from = segments[0]?.start ?? asOf;
  const priced = pricedKeys(segments, planOf);
  const since = Math.min(from, ...segments.map((segment) => tiersStart(segment, planOf)));
  const [tallies, others, seatsBefore, taxRates] = await Promise.all([
    store.tallies(billed, from, priced),
    store.otherUses(billed, { since, from, until: segments.at(-1)?.start ?? from }, priced),
    store.countedBefore(billed, from, priced),
    store.taxRates(billed.app_id, payer?.billing_address?.country ?? null),
  ]);
  const planOfAll = await plansOf(sql, revisions, billed.app_id, segments, others);
  const owed = owedBy({ segments, tallies, others, seatsBefore, planOf: planOfAll }, asOf);
  const unsettled = unsettledLines(owed, withShown(settlements, shown), withRunning ? 'begun' : 'ended');
  const charged = await store.charged(
    billed,
    unsettled.filter(({ amount }) => amount < 0n).map(({ key }) => key),
  );
  const { lines, returns, returned } = creditsOf(unsettled, owed, charged);
  const terms: InvoiceTerms = {
    returned,
    coupons,
    taxRates,
    payer: payer === undefined ? null : { address: payer.billing_address, balance: BigInt(payer.balance) },
  };
  const periods = new Map(segments.map(({ period }) => [period.start, period]));
  const figures = figuresOf(
    lines.map(({ amount, key, period }) => ({ amount, period: periods.get(key.periodStart) ?? period })),
    terms,
  );
  return { lines, returns, figures, terms, payer, owed, settlements, shown };
}

/** What is billed already for whoever leaves to other drafts what they show. */
function withShown(settlements: Settlements, shown: ReadonlyMap<string, bigint>): Settlements {
  const all = new Map(settlements);
  for (const [name, amount] of shown) {
    const before = settlements.get(name) ?? { amount: 0n, wasOver: false, invoices: 0 };
    all.set(name, { ...before, amount: before.amount + amount });
  }
  return all;
}

/** When the month or the year began in which the tiers of a segment's plan run. */
function tiersStart({ plan, window, yearStart, start }: Segment, planOf: Account['planOf']): number {
  if (yearStart === null) return start;
  return planOf(plan).interval === 'yearly' ? yearStart : window.start;
}

/** The features that any of the plans of segments prices. Whoever sends usage may name any number of others. */
function pricedKeys(segments: readonly Segment[], planOf: Account['planOf']): string[] {
  const plans = new Set(segments.map(({ plan }) => planOf(plan)));
  return [...new Set([...plans].flatMap(({ tiers }) => [...tiers.keys()]))];
}

/** The plans of segments, of their base prices and of other use, by revision. */
async function plansOf(
  sql: Sql,
  revisions: Deps['revisions'],
  app: string,
  segments: readonly Segment[],
  others: readonly OtherUse[] = [],
) {
  const wanted = [...segments.flatMap(({ plan, base }) => [plan, base]), ...others.map(({ plan }) => plan)];
  const [revisionOf, names] = await Promise.all([
    revisions.read(sql, app, wanted),
    revisionStore(sql).names(app, [...new Set(wanted.map(({ planId }) => planId))]),
  ]);
  const priced = new Map<string, ReturnType<typeof pricedPlan>>();
  return ({ planId, revision }: Segment['plan']) => {
    const name = `${planId} ${revision}`;
    const known = priced.get(name);
    if (known !== undefined) return known;
    const plan = pricedPlan(revisionOf({ planId, revision }), names.get(planId) ?? planId);
    priced.set(name, plan);
    return plan;
  };
}
