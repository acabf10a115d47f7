/** A subscription in memory that the rules move, as the stores will: it places events, renews, and makes, finalizes and voids invoices. */
import { Big } from 'big.js';
import {
  beginning,
  pause,
  planChange,
  renewal,
  resumption,
  trialChange,
  type Course,
  type PlanTerms,
  type Position,
} from '../../periods/course.ts';
import { segmentAt, type Revision, type Row, type Segment } from '../../periods/segments.ts';
import { replacedFrom } from '../../periods/testing/replaced.ts';
import type { Line } from '../lines.ts';
import { owedBy, type PricedPlan, type Tally } from '../owed.ts';
import { reopened, settled, unsettledLines, type Settlement } from '../settlement.ts';

export interface Offer {
  readonly terms: PlanTerms;
  readonly priced: PricedPlan;
}

export interface TestInvoice {
  readonly lines: readonly Line[];
  isRebilled: boolean;
}

export class Subscriber {
  segments: Segment[];
  readonly invoices: TestInvoice[] = [];
  status: 'live' | 'paused' | 'ended' = 'live';
  #offer: Offer;
  #anchor: number;
  #windowAnchor: number;
  #interval: PlanTerms['interval'];
  #settlements = new Map<string, Settlement>();
  readonly #offers = new Map<string, PricedPlan>();
  readonly #tallies = new Map<string, Tally>();

  constructor(offer: Offer, stretch: { start: number; trialEnd: number }) {
    this.#offer = this.#known(offer);
    const { anchor, windowAnchor, segments } = beginning(offer.terms, stretch);
    this.#anchor = anchor;
    this.#windowAnchor = windowAnchor;
    this.#interval = offer.terms.interval;
    this.segments = [...segments];
  }

  /** The current revision of the plan, for the periods that follow. */
  revise(offer: Offer): void {
    this.#offer = this.#known(offer);
  }

  renew(now: number): void {
    if (this.status !== 'live') return;
    const { period } = segmentAt(this.segments, now)!;
    if (period.start !== now) return;
    const { terms } = this.#offer;
    this.#goOn(now, renewal(terms, { ...this.#row(), start: now }));
    this.#interval = terms.interval;
  }

  change(offer: Offer, now: number, isProrated: boolean): void {
    const position = this.#position(now);
    this.#offer = this.#known(offer);
    const course =
      position.current.kind === 'trial'
        ? trialChange(offer.terms, position, this.#anchor)
        : planChange(offer.terms, position, isProrated);
    this.#goOn(now, course);
    this.#interval = offer.terms.interval;
  }

  pause(now: number): void {
    this.#goOn(now, pause(this.#position(now)));
    this.status = 'paused';
  }

  resume(now: number): void {
    const position = this.#position(now);
    const { terms } = this.#offer;
    if (now >= position.current.period.end) this.#interval = terms.interval;
    this.#goOn(now, resumption(terms, position));
    this.status = 'live';
  }

  cancel(now: number): void {
    this.segments = replacedFrom(this.segments, now, []);
    this.status = 'ended';
  }

  /** Counts an event in the segment of its time; returns whether one covers it. */
  use(featureKey: string, at: number, quantity: Big): boolean {
    const segment = segmentAt(this.segments, at);
    if (segment === undefined || segment.kind === 'paused') return false;
    const name = `${segment.start} ${featureKey}`;
    const before = this.#tallies.get(name)?.quantity ?? new Big(0);
    this.#tallies.set(name, { segmentStart: segment.start, featureKey, quantity: before.plus(quantity) });
    return true;
  }

  /** Makes an invoice final; one without lines is none. */
  invoice(now: number, scope: 'ended' | 'begun'): void {
    const planOf = (revision: Revision) => this.#offers.get(nameOf(revision))!;
    const tallies = [...this.#tallies.values()];
    const owed = owedBy(
      { segments: this.segments, tallies, others: [], seatsBefore: new Map(), planOf },
      now,
    );
    const lines = unsettledLines(owed, this.#settlements, scope);
    if (lines.length === 0) return;
    this.#settlements = settled(this.#settlements, lines, owed);
    this.invoices.push({ lines, isRebilled: false });
  }

  voidAndRebill(invoice: TestInvoice): void {
    if (invoice.isRebilled) return;
    invoice.isRebilled = true;
    this.#settlements = reopened(this.#settlements, invoice.lines);
  }

  billed(): bigint {
    const lines = this.invoices.filter(({ isRebilled }) => !isRebilled).flatMap((invoice) => invoice.lines);
    return lines.reduce((sum, { amount }) => sum + amount, 0n);
  }

  #known(offer: Offer): Offer {
    this.#offers.set(nameOf(offer.priced), offer.priced);
    return offer;
  }

  #position(at: number): Position {
    return { at, ...this.#row(), current: segmentAt(this.segments, at)! };
  }

  #row(): Row {
    return { anchor: this.#anchor, windowAnchor: this.#windowAnchor, interval: this.#interval };
  }

  #goOn(at: number, { anchor, windowAnchor, segments }: Course): void {
    this.#anchor = anchor;
    this.#windowAnchor = windowAnchor;
    this.segments = replacedFrom(this.segments, at, segments);
  }
}

const nameOf = ({ planId, revision }: Revision) => `${planId} ${revision}`;
