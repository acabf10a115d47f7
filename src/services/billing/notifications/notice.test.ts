import { describe, expect, it } from 'vitest';
import { billingEventOf, billingNotice, cardEventOf, cardNotice } from './notice.ts';

const bytes = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
const card = (type: string, object: object) =>
  cardNotice(cardEventOf(bytes({ id: 'evt_1', type, data: { object } })));
const billing = (event_type: string, data: object) =>
  billingNotice(billingEventOf(bytes({ event_id: 'evt_01', event_type, data })));
const told = { eventId: 'evt_1', processorId: 'pi_1', paymentId: 'pay_1' };
const intent = { id: 'pi_1', metadata: { payment_id: 'pay_1' } };

describe('an event of the card provider', () => {
  it.each([
    [
      'payment_intent.succeeded',
      { ...intent, amount: 4_900, amount_received: 4_800, currency: 'usd' },
      { kind: 'succeeded', amount: 4_800n, currency: 'usd' },
    ],
    ['payment_intent.succeeded', { ...intent, amount: 4_900 }, { kind: 'succeeded', amount: 4_900n }],
    ['payment_intent.succeeded', intent, { kind: 'succeeded' }],
    [
      'payment_intent.payment_failed',
      { ...intent, last_payment_error: { code: 'card_declined', message: 'No.\0\ud800' } },
      { kind: 'failed', code: 'card_declined', message: 'No.\ufffd' },
    ],
    [
      'payment_intent.payment_failed',
      { ...intent, last_payment_error: null },
      { kind: 'failed', code: 'payment_failed', message: 'the payment failed' },
    ],
    ['payment_intent.canceled', intent, { kind: 'canceled' }],
    [
      'charge.refunded',
      { ...intent, id: 'ch_1', payment_intent: 'pi_1', amount_refunded: 7, currency: 'usd' },
      { kind: 'refunded', total: 7n, currency: 'usd' },
    ],
    [
      'charge.refunded',
      { ...intent, id: 'ch_1', payment_intent: { id: 'pi_1' }, amount_refunded: 7 },
      { kind: 'refunded', total: 7n },
    ],
  ])('%s', (type, object, outcome) => {
    expect(card(type, object)).toEqual({ ...told, outcome });
  });

  it('of another type says nothing', () => {
    expect(card('customer.created', {})).toBeUndefined();
  });
});

describe('an event of the billing provider', () => {
  const told = { eventId: 'evt_01', processorId: 'txn_01', paymentId: 'pay_1' };
  const transaction = { id: 'txn_01', custom_data: { payment_id: 'pay_1' } };
  it.each([
    [
      'transaction.completed',
      { ...transaction, currency_code: 'USD', details: { totals: { grand_total: '4900' } } },
      { kind: 'succeeded', amount: 4_900n, currency: 'usd' },
    ],
    ['transaction.completed', transaction, { kind: 'succeeded' }],
    [
      'transaction.payment_failed',
      { ...transaction, payments: [{ error_code: 'declined' }] },
      { kind: 'failed', code: 'declined', message: 'the payment failed' },
    ],
    ['transaction.canceled', { ...transaction, payments: [] }, { kind: 'canceled' }],
  ])('%s', (type, data, outcome) => {
    expect(billing(type, data)).toEqual({ ...told, outcome });
  });

  it('adjustment.updated counts once for each approved refund', () => {
    const refund = { id: 'adj_1', action: 'refund', status: 'approved', transaction_id: 'txn_01' };
    const outcome = { kind: 'refunded', more: 700n, currency: 'usd' };
    const said = billing('adjustment.updated', { ...refund, totals: { total: '700' }, currency_code: 'USD' });
    expect(said).toEqual({ ...told, paymentId: '', outcome, onceFor: 'adjustment adj_1' });
    expect(billing('adjustment.updated', { ...refund, status: 'rejected' })).toBeUndefined();
    expect(billing('adjustment.updated', { ...refund, action: 'credit' })).toBeUndefined();
  });
});

describe('what is signed is not an event', () => {
  const whole = { id: 'evt_1', type: 'payment_intent.succeeded', data: { object: intent } };
  it.each([
    ['when it is empty', ''],
    ['when it is no JSON', '{'],
    ['when it is deep', '['.repeat(500_000)],
    ['when it is a list', []],
    ['when it is null', 'null'],
    ['without an id', { ...whole, id: undefined }],
    ['with a number as id', { ...whole, id: 7 }],
    ['with an id that no database stores', { ...whole, id: 'evt\0' }],
    ['without a type', { ...whole, type: '' }],
    ['without data', { ...whole, data: null }],
    ['without an object', { ...whole, data: { object: [] } }],
  ])('%s', (_, body) => {
    expect(() => cardEventOf(bytes(body))).toThrow('body: not an event');
  });

  it('when it is no UTF-8', () => {
    expect(() => cardEventOf(Buffer.from([0x22, 0xff, 0x22]))).toThrow('body: not an event');
  });

  it.each([
    ['a fraction', { amount: 0.5 }],
    ['a negative amount', { amount: -1 }],
    ['an amount beyond integers', { amount: 1e308 }],
    ['an amount in words', { amount: 'much' }],
    ['a currency that there is not', { currency: 'xyz' }],
    ['a currency of another kind', { currency: {} }],
  ])('with %s', (_, more) => {
    expect(() => card('payment_intent.succeeded', { ...intent, ...more })).toThrow('body: not an event');
  });
});
