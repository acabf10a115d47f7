import { Big } from 'big.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { minorUnits } from '../money/money.ts';
import { owedByDiary, type DiaryEntry, type DiaryPlan, type DiaryUse } from './testing/oracle.ts';
import { Subscriber, type Offer } from './testing/subscriber.ts';

const tick = 6 * 3_600_000;
const day = 86_400_000;

/** One price list, as the oracle reads it and as the rules do. */
function offerOf(planId: string, revision: number, plan: DiaryPlan): Offer {
  const interval = plan.months === 12 ? 'yearly' : 'monthly';
  const calls = plan.calls.map(({ upTo, unit, flat }) => ({
    type: plan.callsType,
    up_to: upTo,
    unit_amount_decimal: unit,
    flat_amount: { amount: flat },
  }));
  const seats = [
    { type: 'graduated' as const, up_to: -1, unit_amount_decimal: plan.seat, flat_amount: { amount: 0 } },
  ];
  return {
    terms: { planId, revision, interval, base: BigInt(plan.base) },
    priced: {
      planId,
      revision,
      name: plan.name,
      interval,
      features: [
        { key: 'calls', name: 'Calls', type: 'metered' },
        { key: 'seats', name: 'Seats', type: 'seat' },
        { key: 'free', name: 'Free', type: 'metered' },
      ],
      tiers: new Map([
        ['calls', calls],
        ['seats', seats],
      ]),
    },
  };
}

const units = fc.constantFrom('0', '0.5', '33.333333333333', '7', '100.25', '1999');
const plans = fc
  .record({
    months: fc.constantFrom(1, 1, 1, 12),
    base: fc.constantFrom(0, 1, 4_900, 9_900, 99_999, 100_000_007),
    sizes: fc.array(fc.tuple(fc.integer({ min: 1, max: 20 }), units, fc.constantFrom(0, 0, 250)), {
      minLength: 1,
      maxLength: 3,
    }),
    callsType: fc.constantFrom('graduated', 'graduated', 'volume', 'flat'),
    seat: units,
  })
  .map(({ sizes, callsType, ...rest }): DiaryPlan => {
    let upTo = 0;
    const calls = sizes.map(([size, unit, flat], index) => {
      upTo += size;
      return { upTo: index === sizes.length - 1 ? -1 : upTo, unit: callsType === 'flat' ? '0' : unit, flat };
    });
    return { name: 'Plan', calls, callsType, ...rest };
  });

const quantities = fc.constantFrom('1', '1', '3', '0.5', '2.000000000001', '12.75', '-1', '-4.5');
const steps = fc.record({
  gap: fc.integer({ min: 1, max: 50 }),
  action: fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({
        do: fc.constant('use' as const),
        feature: fc.constantFrom('calls', 'seats'),
        quantity: quantities,
        late: fc.nat(140),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({ do: fc.constant('change' as const), plan: plans, prorate: fc.boolean() }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('revise' as const), plan: plans }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('pauseOrResume' as const) }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('invoice' as const) }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('rebill' as const), which: fc.nat(20) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('void' as const), which: fc.nat(20) }) },
  ),
});
const histories = fc.record({
  start: fc.integer({ min: 0, max: 4 * 366 }).map((days) => Date.parse('2024-01-01T00:00Z') + days * day),
  trialDays: fc.constantFrom(0, 0, 14, 45),
  plan: plans,
  script: fc.array(steps, { maxLength: 24 }),
  renewalsInvoiced: fc.boolean(),
});
type History = typeof histories extends fc.Arbitrary<infer T> ? T : never;

/** Plays a history with the rules, and keeps the diary for the oracle. */
function play({ start, trialDays, plan, script, renewalsInvoiced }: History) {
  const trialEnd = start + trialDays * day;
  const subscriber = new Subscriber(offerOf('plan_0', 1, plan), { start, trialEnd });
  const entries: DiaryEntry[] = [];
  let uses: DiaryUse[] = [];
  let planId = 0;
  let revision = 1;
  let now = start;
  const use = (feature: 'calls' | 'seats', at: number, quantity: string) => {
    if (subscriber.use(feature, at, new Big(quantity))) uses.push({ at, feature, quantity });
  };
  const run = (until: number) => {
    while (now < until) {
      now += tick;
      subscriber.renew(now);
      if (renewalsInvoiced && subscriber.status === 'live') subscriber.invoice(now, 'ended');
    }
  };
  for (const { gap, action } of script) {
    run(now + gap * tick);
    if (action.do === 'use') use(action.feature, Math.max(start, now - action.late * tick), action.quantity);
    else if (action.do === 'change' && subscriber.status === 'live') {
      planId += 1;
      revision = 1;
      subscriber.change(offerOf(`plan_${planId}`, revision, action.plan), now, action.prorate);
      entries.push({ at: now, what: 'change', plan: action.plan, prorate: action.prorate });
    } else if (action.do === 'revise') {
      revision += 1;
      subscriber.revise(offerOf(`plan_${planId}`, revision, action.plan));
      entries.push({ at: now, what: 'revise', plan: action.plan });
    } else if (action.do === 'pauseOrResume' && now > trialEnd) {
      const what = subscriber.status === 'live' ? 'pause' : 'resume';
      subscriber[what](now);
      entries.push({ at: now, what });
    } else if (action.do === 'invoice' && subscriber.status === 'live') subscriber.invoice(now, 'begun');
    else if (action.do === 'rebill') {
      const invoice = subscriber.invoices[action.which % subscriber.invoices.length];
      if (invoice) subscriber.voidAndRebill(invoice);
    } else if (action.do === 'void') {
      const voided = uses[action.which % uses.length];
      if (voided) subscriber.use(voided.feature, voided.at, new Big(voided.quantity).times(-1));
      uses = uses.filter((one) => one !== voided);
    }
  }
  run(now + tick);
  subscriber.cancel(now);
  entries.push({ at: now, what: 'cancel' });
  subscriber.invoice(now, 'ended');
  // What comes late is billed once more after the end.
  use('calls', now - 8 * tick, '5.5');
  subscriber.invoice(now + 35 * day, 'ended');
  return {
    subscriber,
    owed: () => owedByDiary({ start, trialEnd, plan, entries, uses }, now + day, tick),
    end: now,
  };
}

describe('over any history of a subscription', () => {
  it('invoices and credits sum to what is owed, to the minor unit', () => {
    fc.assert(
      fc.property(histories, (history) => {
        const { subscriber, owed } = play(history);
        expect(String(subscriber.billed())).toBe(owed());
      }),
      { numRuns: 150 },
    );
  }, 60_000);

  it('every instant lies in exactly one segment, and every line can be checked by its reader', () => {
    fc.assert(
      fc.property(histories, (history) => {
        const { subscriber, end } = play(history);
        const { segments, invoices } = subscriber;
        expect(segments[0]!.start).toBe(history.start);
        expect(segments.at(-1)!.end).toBe(end);
        for (const [index, { start, end: until }] of segments.entries()) {
          expect(start < until).toBe(true);
          if (index > 0) expect(start).toBe(segments[index - 1]!.end);
        }
        for (const { quantity, unit, flat, amount, period } of invoices.flatMap(({ lines }) => lines)) {
          expect(minorUnits(quantity.times(unit)) + flat).toBe(amount);
          expect(period.start < period.end).toBe(true);
        }
      }),
      { numRuns: 100 },
    );
  }, 60_000);
});
