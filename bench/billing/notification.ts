/** The check of a signed notification against that of the card provider's own package. */
import { createHmac } from 'node:crypto';
import Stripe from 'stripe';
import { isSignedByCardProvider } from '../../src/services/billing/notifications/signatures.ts';
import { atLeast, round, type Row } from '../row.ts';
import { mean, paired } from '../statistics.ts';

const secret = 'whsec_plinth_bench';
const body = Buffer.from(
  JSON.stringify({
    id: 'evt_1',
    object: 'event',
    type: 'payment_intent.succeeded',
    data: { object: { id: 'pi_1', amount: 4900, currency: 'usd', description: 'x'.repeat(1_000) } },
  }),
);

export async function* notification(): AsyncGenerator<Row> {
  const now = Date.now();
  const time = Math.floor(now / 1000);
  const header = `t=${time},v1=${createHmac('sha256', secret).update(`${time}.`).update(body).digest('hex')}`;
  const { webhooks } = new Stripe('sk_test_bench');
  if (!isSignedByCardProvider({ header, body }, [secret], now)) throw new Error('the signature is not valid');
  const { ratio, a, b } = await paired(
    () => mean(5_000, () => webhooks.constructEvent(body, header, secret)),
    () =>
      mean(5_000, () => {
        isSignedByCardProvider({ header, body }, [secret], now);
        return JSON.parse(body.toString()) as unknown;
      }),
  );
  yield atLeast(ratio, 1, {
    path: 'a notification of 1 KB checked and parsed',
    baseline: '`stripe.webhooks.constructEvent`',
    measured: `${round(b * 1_000)} µs against ${round(a * 1_000)} µs`,
  });
}
