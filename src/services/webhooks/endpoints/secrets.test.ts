import { expect, test } from 'vitest';
import { newWebhookSecret } from '../../../lib/standard-webhooks.ts';
import { checkSecret } from './secrets.ts';

const of = (bytes: number) => `whsec_${Buffer.alloc(bytes, 251).toString('base64')}`;

test.each([undefined, newWebhookSecret(), of(24), of(25), of(32), of(64)])('%j is a secret', (secret) => {
  expect(() => checkSecret(secret)).not.toThrow();
});

test.each([of(23), of(65), of(25).replace(/=/g, ''), `${of(24)}=`, `whsec_${'A'.repeat(33)}B==`])(
  '%j is none',
  (secret) => {
    expect(() => checkSecret(secret)).toThrow('secret: must be whsec_ and the base64 of 24 to 64 bytes');
  },
);
