import { describe, expect, it } from 'vitest';
import { Webhook } from 'standardwebhooks';
import type { PayloadFormat } from '../../../../generated/webhooks/types.ts';
import { signatureHeaders } from '../../../lib/standard-webhooks.ts';
import { bodyOf, requestOf, type Sending } from './request.ts';

const secret = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';
const previous = 'whsec_ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8=';
const event = {
  id: 'evt_01m7w4n5e0ex5vsknk084sn02q',
  type: 'invoice.paid',
  created_at: '2026-11-20T09:30:00.000Z',
  data: '{"invoice_id":"inv_01h455vb4pex5vsknk084sn02q","amount":4900}',
};
const sending: Sending = {
  event,
  deliveryId: 'del_01h455vb4qex5vsknk084sn02r',
  attempt: 2,
  format: 'standard',
  headers: { 'X-Region': 'eu' },
  secrets: [secret],
  seconds: 1_795_167_000,
};

describe('the signature', () => {
  it('is that of Standard Webhooks (vector a)', () => {
    const signed = signatureHeaders(['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'], {
      id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      seconds: 1_614_265_330,
      body: '{"test": 2432232314}',
    });
    expect(signed['webhook-signature']).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
  });

  it('covers our envelope (vector b), with each secret that signs', () => {
    const { headers, body } = requestOf({ ...sending, secrets: [secret, previous] });
    expect(Buffer.byteLength(body)).toBe(131);
    expect(headers).toEqual({
      'X-Region': 'eu',
      'content-type': 'application/json',
      'user-agent': 'Plinth-Webhooks/1.0',
      'webhook-id': event.id,
      'webhook-timestamp': '1795167000',
      'webhook-signature':
        'v1,dMHpiE2EgeCo7SFe0XoadVn6fkjTCqS+a9FF1f+CZyY= v1,IQQMbQJl7YJipBIkUPxju4iAXeE91+Ds4bFNtI5E+ZY=',
      'plinth-event-type': 'invoice.paid',
      'plinth-delivery-id': 'del_01h455vb4qex5vsknk084sn02r',
      'plinth-attempt': '2',
    });
  });

  it.each<PayloadFormat>(['standard', 'data'])('of a body as %s verifies elsewhere', (format) => {
    const seconds = Math.floor(Date.now() / 1_000);
    const data = '{"text":"Grüße 🎉","big":1e400}';
    const { headers, body } = requestOf({ ...sending, event: { ...event, data }, format, seconds });
    const verify = (key: string, text: string, more = {}) =>
      new Webhook(key).verify(text, { ...headers, ...more });
    expect(verify(secret, body)).toEqual(JSON.parse(body));
    expect(() => verify(previous, body)).toThrow();
    expect(() => verify(secret, `${body} `)).toThrow();
    expect(() => verify(secret, body, { 'webhook-id': 'evt_other' })).toThrow();
    expect(() => verify(secret, body, { 'webhook-timestamp': String(seconds + 1) })).toThrow();
  });
});

describe('the body', () => {
  it.each<[PayloadFormat, string]>([
    ['data', '{"b":1.0,"a":12345678901234567890}'],
    [
      'standard',
      '{"type":"invoice.paid","timestamp":"2026-11-20T09:30:00.000Z","data":{"b":1.0,"a":12345678901234567890}}',
    ],
  ])('as %s holds the data as they were sent', (format, body) => {
    expect(bodyOf({ ...event, data: '{"b":1.0,"a":12345678901234567890}' }, format)).toBe(body);
  });
});
