/** What a subscription owes, as 1,000 lines with their totals, against writing and reading the result as JSON. */
import { Big } from 'big.js';
import { figuresOf } from '../../src/services/billing/invoices/figures.ts';
import { owedBy, type PricedPlan, type Tally } from '../../src/services/billing/invoices/owed.ts';
import { unsettledLines } from '../../src/services/billing/invoices/settlement.ts';
import { beginning } from '../../src/services/billing/periods/course.ts';
import type { Tier } from '../../src/services/billing/pricing/rating.ts';
import { atMostTimes, round, type Row } from '../row.ts';
import { mean, paired } from '../statistics.ts';

const features = 100;
const tiersEach = 10;

/** A plan whose features all reach the last of their tiers. */
const tiers = Array.from({ length: tiersEach }, (_, at): Tier => {
  const isLast = at === tiersEach - 1;
  const up_to = isLast ? -1 : (at + 1) * 1_000;
  return { type: 'graduated', up_to, unit_amount_decimal: `0.${at + 1}5`, flat_amount: { amount: at } };
});
const keys = Array.from({ length: features }, (_, at) => `feature_${at}`);
const plan: PricedPlan = {
  planId: 'plan_bench',
  revision: 1,
  name: 'Bench',
  interval: 'monthly',
  features: keys.map((key) => ({ key, name: key, type: 'metered' as const })),
  tiers: new Map(keys.map((key) => [key, tiers])),
};
const start = Date.parse('2026-01-15T10:00:00Z');
const { segments } = beginning(
  { planId: plan.planId, revision: plan.revision, interval: 'monthly', base: 4_900n },
  { start, trialEnd: start },
);
const tallies: Tally[] = keys.map((featureKey, at) => ({
  segmentStart: start,
  featureKey,
  quantity: new Big(`${10_000 + at}.5`),
}));

function invoice() {
  const account = { segments, tallies, others: [], seatsBefore: new Map<string, Big>(), planOf: () => plan };
  const lines = unsettledLines(owedBy(account, segments[0]!.end), new Map(), 'ended');
  const figures = figuresOf(lines, {
    coupons: [],
    taxRates: [],
    payer: null,
    returned: { discounts: [], taxes: [] },
  });
  return { lines, figures };
}

export async function* rating(): AsyncGenerator<Row> {
  const { lines } = invoice();
  const shown = lines.map(({ quantity, unit, flat, amount, ...rest }) => ({
    ...rest,
    quantity: quantity.toFixed(),
    unit: unit.toFixed(),
    flat: Number(flat),
    amount: Number(amount),
  }));
  const { ratio, a, b } = await paired(
    () => mean(50, invoice),
    () => mean(50, () => JSON.parse(JSON.stringify(shown))),
  );
  yield atMostTimes(ratio, 5, {
    path: `rating and figures of ${lines.length} lines`,
    baseline: 'the lines written and read as JSON',
    measured: `${round(a)} ms against ${round(b)} ms`,
  });
}
