import { Webhook } from 'standardwebhooks';
import { expect, it } from 'vitest';
import { newWebhookSecret, signatureHeaders } from './standard-webhooks.ts';

it('signs as the vector of the specification', () => {
  const headers = signatureHeaders(['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'], {
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    seconds: 1614265330,
    body: '{"test": 2432232314}',
  });
  expect(headers['webhook-signature']).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
});

it('is verified by the library of the specification, by the new secret and by the previous one', () => {
  const secrets = [newWebhookSecret(), newWebhookSecret()];
  const body = JSON.stringify({ type: 'user.created' });
  const headers = signatureHeaders(secrets, { id: 'evt_1', seconds: Math.floor(Date.now() / 1000), body });
  for (const secret of secrets)
    expect(new Webhook(secret).verify(body, headers)).toEqual({ type: 'user.created' });
  expect(() => new Webhook(newWebhookSecret()).verify(body, headers)).toThrow();
});

it('makes secrets of 32 random bytes', () => {
  const secrets = [newWebhookSecret(), newWebhookSecret()];
  for (const secret of secrets) expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(new Set(secrets).size).toBe(2);
});
