import { createHmac } from 'node:crypto';
import Stripe from 'stripe';
import { describe, expect, it } from 'vitest';
import { isSignedByBillingProvider, isSignedByCardProvider } from './signatures.ts';

const seconds = 1_700_000_000;
const now = seconds * 1000;
const card = {
  secret: 'whsec_plinth_test',
  body: '{"id":"evt_1","type":"payment_intent.succeeded","data":{"object":{"id":"pi_1","amount":4900,"currency":"usd"}}}',
  signature: 'c45fb735623ac8821cbec75bb973321f0b10b0f895d2457e3feb890df0a24f69',
};
const billing = {
  secret: 'pdl_ntfset_plinth_test',
  body: '{"event_id":"evt_01","event_type":"transaction.completed","data":{"id":"txn_01"}}',
  signature: '218552221fd2ad7d44552b69b09de313f263facf2602785b0ba3cf8f08b2c1be',
};
const bytes = (text: string) => Buffer.from(text);
const cardCheck = (
  header: string | undefined,
  { body = bytes(card.body), secrets = [card.secret], at = now } = {},
) => isSignedByCardProvider({ header, body }, secrets, at);
const billingCheck = (
  header: string | undefined,
  { body = bytes(billing.body), secrets = [billing.secret], at = now } = {},
) => isSignedByBillingProvider({ header, body }, secrets, at);

describe.each([
  ['the card provider', cardCheck, card, 't', 'v1', ','],
  ['the billing provider', billingCheck, billing, 'ts', 'h1', ';'],
] as const)('a notification of %s', (_, check, { secret, body, signature }, t, v, separator) => {
  const header = `${t}=${seconds}${separator}${v}=${signature}`;

  it('is signed under any of the configured secrets', () => {
    expect(check(header)).toBe(true);
    expect(check(header, { secrets: ['new', secret] })).toBe(true);
    expect(check(header, { secrets: ['new'] })).toBe(false);
    expect(check(header, { secrets: [] })).toBe(false);
  });

  it('may have several signatures', () => {
    expect(check(`${t}=${seconds}${separator}${v}=${'0'.repeat(64)}${separator}${v}=${signature}`)).toBe(
      true,
    );
  });

  it('is at most 300 seconds old, or ahead', () => {
    const apart = [-301, -300, 300, 301].map((difference) => check(header, { at: now + difference * 1000 }));
    expect(apart).toEqual([false, true, true, false]);
  });

  it('is the bytes that were signed', () => {
    expect(check(header, { body: bytes(JSON.stringify(JSON.parse(body), null, 1)) })).toBe(false);
    for (let at = 0; at < body.length; at += 7) {
      const flipped = bytes(body);
      flipped[at]! ^= 1;
      expect(check(header, { body: flipped })).toBe(false);
    }
  });

  it('may be any bytes, not only text', () => {
    const raw = Buffer.from([0xff, 0xfe, 0x00, 0x80]);
    const joint = t === 't' ? '.' : ':';
    const made = createHmac('sha256', secret)
      .update(Buffer.concat([bytes(`${seconds}${joint}`), raw]))
      .digest('hex');
    expect(check(`${t}=${seconds}${separator}${v}=${made}`, { body: raw })).toBe(true);
  });

  it.each([
    ['no header', undefined],
    ['an empty one', ''],
    ['no time', `${v}=${signature}`],
    ['two times', `${t}=${seconds}${separator}${t}=${seconds}${separator}${v}=${signature}`],
    ['no signature', `${t}=${seconds}`],
    ['a time that is none', `${t}=17e8${separator}${v}=${signature}`],
    ['a negative time', `${t}=-${seconds}${separator}${v}=${signature}`],
    ['a time without end', `${t}=${'9'.repeat(400)}${separator}${v}=${signature}`],
    ['a short signature', `${t}=${seconds}${separator}${v}=${signature.slice(2)}`],
    ['another scheme', `${t}=${seconds}${separator}v0=${signature}`],
    ['a signature that is no hex', `${t}=${seconds}${separator}${v}=${'z'.repeat(64)}`],
    ['the other separator', header.replace(separator, separator === ',' ? ';' : ',')],
  ])('is refused with %s', (__, wrong) => {
    expect(check(wrong)).toBe(false);
  });
});

it('headers of the card provider are those that its own library makes', () => {
  const stripe = new Stripe('sk_test_none');
  const header = stripe.webhooks.generateTestHeaderString({
    payload: card.body,
    secret: card.secret,
    timestamp: seconds,
  });
  expect(cardCheck(header)).toBe(true);
  expect(cardCheck(header, { secrets: ['whsec_other'] })).toBe(false);
});
