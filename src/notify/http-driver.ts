import { request } from 'undici';
import { signatureHeaders } from '../lib/standard-webhooks.ts';
import type { Clock } from '../db/clock.ts';
import type { MessageDriver } from './message.ts';

const timeoutMs = 15_000;

/** Hands text messages to the operator's HTTP endpoint, which sends them: `POST {to, text}`, signed if a secret is set. */
export const httpDriver = (url: string, secret: string, clock: Clock): MessageDriver => ({
  async send({ id, to, text }) {
    const body = JSON.stringify({ to, text });
    const seconds = Math.floor(clock.now() / 1000);
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
