import { request } from 'undici';
import { signatureHeaders } from '../../lib/standard-webhooks.ts';
import type { MessageDriver } from './message-drivers.ts';

const timeoutMs = 15_000;

/** Hands text messages to an HTTP endpoint of the operator's, which sends them: `POST {to, text}`, signed where there is a secret. */
export const smsDriver = (url: string, secret: string): MessageDriver => ({
  async send({ id, to, text }) {
    const body = JSON.stringify({ to, text });
    const seconds = Math.floor(Date.now() / 1000);
    const { statusCode, body: answer } = await request(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'Plinth/1.0',
        ...(secret === '' ? {} : signatureHeaders([secret], { id, seconds, body })),
      },
      body,
      signal: AbortSignal.timeout(timeoutMs),
    });
    await answer.dump();
    if (statusCode < 200 || statusCode >= 300)
      throw Object.assign(new Error('the endpoint for text messages refused'), { code: String(statusCode) });
  },
  async close() {},
});
