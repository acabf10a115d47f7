import { afterAll, beforeAll, expect, it } from 'vitest';
import { openDatabase } from '../../../db/index.ts';
import { pino } from 'pino';
import { childServer } from '../../../testing/child-server.ts';
import { childDatabase } from '../../../testing/database.ts';
import { until } from '../../../testing/until.ts';
import { createCardProvider } from '../providers/card-provider.ts';
import { type FakeCardProvider, fakeCardProvider } from '../providers/testing/fake-card-provider.ts';
import { reconcile } from './reconciliation.ts';
import { debtor, payingTools, processOn } from './testing.ts';

let fake: FakeCardProvider;
beforeAll(async () => {
  fake = await fakeCardProvider();
});
afterAll(() => fake.close());

it.each(['waitsBefore', 'waitsAfter'] as const)(
  'a process that is killed while the provider %s leaves one charge behind, which pays the invoice',
  async (behaviour) => {
    const { env, url, remove } = await childDatabase(['billing']);
    const open = () => {
      const log = pino({ level: 'silent' });
      return openDatabase({ url, connections: 8, dataDir: env.PLINTH_DATA_DIR, log });
    };
    const before = await open();
    const owner = await debtor(before, { at: Date.now() });
    await before.close();

    fake.behaviour = 'answers';
    const child = await childServer({
      services: ['billing'],
      env: {
        ...{ ...env, PLINTH_BILLING_PROVIDER: 'card-provider', PLINTH_BILLING_CARD_PROVIDER_URL: fake.url },
        ...{ PLINTH_BILLING_CARD_PROVIDER_KEY: 'sk_test_none', PLINTH_BILLING_TICK: '0s' },
      },
    });
    // A service that is served alone has no path of its own.
    const path = '/billing';
    const requests = {
      request: (method: string, rest: string, options?: object) =>
        child.request(method, rest.slice(path.length), options),
    };
    const api = payingTools(requests, before);
    const { id: payment_method_id } = await api.method(owner);
    fake.behaviour = behaviour;
    const [asked, made] = [fake.requests.length, fake.intents.size];
    const answer = api.pay(owner, { payment_method_id }).catch(() => 'no answer');
    await until(() => fake.requests.length > asked);
    await child.kill('SIGKILL');
    expect(await answer).toBe('no answer');

    fake.behaviour = 'answers';
    const after = await open();
    const later = Date.now() + 61_000;
    const provider = await createCardProvider({ key: 'sk_test_none', url: fake.url });
    expect(await reconcile(processOn(after, { now: () => later }, provider), later)).toBe(1);
    expect(await payingTools(requests, after).account(owner)).toEqual({
      status: 'paid',
      paid: 5_000,
      balance: 0,
    });
    expect(fake.intents.size - made).toBe(1);
    await after.close();
    await remove();
  },
  120_000,
);
