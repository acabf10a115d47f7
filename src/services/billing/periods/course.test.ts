import { describe, expect, it } from 'vitest';
import { beginning, pause, planChange, renewal, resumption, trialChange, type PlanTerms } from './course.ts';
import { segmentAt, type Segment } from './segments.ts';

const at = (text: string) => Date.parse(`${text}T10:00Z`);
const pro: PlanTerms = { planId: 'pro', revision: 1, interval: 'monthly', base: 4_900n };
const max: PlanTerms = { planId: 'max', revision: 3, interval: 'monthly', base: 9_900n };
const yearly: PlanTerms = { planId: 'year', revision: 1, interval: 'yearly', base: 49_000n };
const day = (instant: number) => new Date(instant).toISOString().slice(0, 10);
const shown = ({ segments }: { segments: readonly Segment[] }) =>
  segments.map(
    ({ kind, start, end, period, plan, base }) =>
      `${kind} ${day(start)} ${day(end)} of ${day(period.start)}, ${plan.planId} ${plan.revision}, ${base.planId} ${base.amount}`,
  );
const from = at('2026-01-15');
const started = beginning(pro, { start: from, trialEnd: from });
const where = (instant: number, { anchor, windowAnchor, segments } = started) => ({
  at: instant,
  anchor,
  windowAnchor,
  interval: pro.interval,
  current: segmentAt(segments, instant)!,
});

describe('the course of a subscription', () => {
  it('begins with its period and the next one', () => {
    expect(shown(started)).toEqual([
      'paid 2026-01-15 2026-02-15 of 2026-01-15, pro 1, pro 4900',
      'paid 2026-02-15 2026-03-15 of 2026-02-15, pro 1, pro 4900',
    ]);
  });

  it('begins with a trial, whose end anchors the periods', () => {
    const trial = beginning(pro, { start: from, trialEnd: at('2026-01-29') });
    expect(day(trial.anchor)).toBe('2026-01-29');
    expect(shown(trial)).toEqual([
      'trial 2026-01-15 2026-01-29 of 2026-01-15, pro 1, pro 4900',
      'paid 2026-01-29 2026-02-28 of 2026-01-29, pro 1, pro 4900',
    ]);
    const change = where(at('2026-01-20'), trial);
    expect(shown(trialChange(yearly, change, trial.anchor)).slice(0, 2)).toEqual([
      'trial 2026-01-20 2026-01-29 of 2026-01-15, year 1, year 49000',
      'paid 2026-01-29 2026-02-28 of 2026-01-29, year 1, year 49000',
    ]);
  });

  it('has the trial that is left under a new plan, and pays at once without one', () => {
    const trial = beginning(pro, { start: from, trialEnd: at('2026-02-14') });
    const change = where(at('2026-01-20'), trial);
    const shorter = trialChange(max, change, at('2026-01-29'));
    expect(shown(shorter)).toEqual([
      'trial 2026-01-20 2026-01-29 of 2026-01-15, max 3, max 9900',
      'paid 2026-01-29 2026-02-28 of 2026-01-29, max 3, max 9900',
    ]);
    const none = trialChange(max, change, at('2026-01-15'));
    expect(shown(none)[0]).toBe('paid 2026-01-20 2026-02-20 of 2026-01-20, max 3, max 9900');
    // The months begin with the first paid period; those of an earlier subscription go on.
    expect([shorter, none].map(({ windowAnchor }) => day(windowAnchor))).toEqual([
      '2026-01-29',
      '2026-01-20',
    ]);
    const again = beginning(pro, { start: from, trialEnd: at('2026-02-14'), windowAnchor: at('2025-12-03') });
    expect(day(trialChange(max, where(at('2026-01-20'), again), from).windowAnchor)).toBe('2025-12-03');
  });

  it('goes on with the months of the tenant when its periods begin anew', () => {
    const windows = ({ segments }: { segments: readonly Segment[] }) =>
      segments.map(({ start, window }) => `${day(start)}: ${day(window.start)} ${day(window.end)}`);
    const again = beginning(pro, { start: from, trialEnd: from, windowAnchor: at('2025-12-03') });
    expect(windows(again)).toEqual([
      '2026-01-15: 2026-01-03 2026-02-03',
      '2026-02-03: 2026-02-03 2026-03-03',
      '2026-02-15: 2026-02-03 2026-03-03',
      '2026-03-03: 2026-03-03 2026-04-03',
    ]);
    const changed = planChange(yearly, where(at('2026-01-25')), true);
    expect(windows(changed).slice(0, 2)).toEqual([
      '2026-01-25: 2026-01-15 2026-02-15',
      '2026-02-15: 2026-02-15 2026-03-15',
    ]);
    expect(day(changed.segments[0]!.yearStart!)).toBe('2026-01-15');
  });

  it('has the new prices from the next period on', () => {
    const revised = renewal(
      { ...pro, revision: 2, base: 5_900n },
      { ...where(from), start: at('2026-02-15') },
    );
    expect(shown(revised)).toEqual([
      'paid 2026-02-15 2026-03-15 of 2026-02-15, pro 2, pro 5900',
      'paid 2026-03-15 2026-04-15 of 2026-03-15, pro 2, pro 5900',
    ]);
  });

  it('keeps its period when the plan changes, and without proration its base price, unless the new one is higher', () => {
    const change = where(at('2026-01-25'));
    expect(shown(planChange(max, change, true))).toEqual([
      'paid 2026-01-25 2026-02-15 of 2026-01-15, max 3, max 9900',
      'paid 2026-02-15 2026-03-15 of 2026-02-15, max 3, max 9900',
    ]);
    expect(shown(planChange(max, change, false))).toEqual(shown(planChange(max, change, true)));
    const lite = { ...max, planId: 'lite', base: 1_900n };
    expect(shown(planChange(lite, change, false))).toEqual([
      'paid 2026-01-25 2026-02-15 of 2026-01-15, lite 3, pro 4900',
      'paid 2026-02-15 2026-03-15 of 2026-02-15, lite 3, lite 1900',
    ]);
  });

  it('begins a new period with a plan that has periods of another length', () => {
    const changed = planChange(yearly, where(at('2026-01-25')), true);
    expect(day(changed.anchor)).toBe('2026-01-25');
    // Each of 24 months is cut where the tenant's month ends, and where the second year begins.
    expect(changed.segments).toHaveLength(26);
    expect(changed.segments.map(({ period }) => day(period.start))).toContain('2027-01-25');
  });

  it('goes on within its period after a pause, and begins a new one after it', () => {
    const paused = pause(where(at('2026-01-20')));
    expect(shown(paused)).toEqual(['paused 2026-01-20 9999-12-31 of 2026-01-15, pro 1, pro 4900']);
    expect(shown(resumption({ ...pro, revision: 2 }, where(at('2026-02-01'), paused)))).toEqual([
      'paid 2026-02-01 2026-02-15 of 2026-01-15, pro 1, pro 4900',
      'paid 2026-02-15 2026-03-15 of 2026-02-15, pro 2, pro 4900',
    ]);
    expect(shown(resumption(pro, where(at('2026-02-15'), paused)))[0]).toBe(
      'paid 2026-02-15 2026-03-15 of 2026-02-15, pro 1, pro 4900',
    );
  });
});
