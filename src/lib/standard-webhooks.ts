import { createHmac, randomBytes } from 'node:crypto';

/** Creates a secret as in the Standard Webhooks specification: `whsec_` and the base64 of a key as long as the signature. */
export const newWebhookSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

/**
 * The headers of a signed delivery (Standard Webhooks 1.0). Each secret adds a signature, so that a receiver that still has the
 * previous secret can verify the delivery.
 * @param seconds Unix time of this attempt
 */
export function signatureHeaders(
  secrets: readonly string[],
  { id, seconds, body }: { id: string; seconds: number; body: string },
): Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string> {
  const signed = `${id}.${seconds}.${body}`;
  const signatures = secrets.map((secret) => `v1,${hmac(secret, signed)}`);
  return {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': signatures.join(' '),
  };
}

const hmac = (secret: string, text: string) =>
  createHmac('sha256', Buffer.from(secret.replace(/^whsec_/, ''), 'base64'))
    .update(text)
    .digest('base64');
