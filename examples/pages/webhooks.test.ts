/** Runs the first webhook of docs/services/webhooks.md as it is printed. */
import { createPlinth } from '@plinth/sdk';
import { expect, inject, it } from 'vitest';
import { jsonForm } from '../testing/forms.ts';
import { readPage } from '../testing/pages.ts';
import { freePort } from '../testing/processes.ts';
import { expectShown, readerOf, startExample } from '../testing/reader.ts';

const page = await readPage('docs/services/webhooks.md');
const server = inject('pageServer');
const { webhooks } = createPlinth({ baseUrl: server.url, token: server.rootToken });

it('the page shows a first webhook: verified, retried, dead and replayed', async () => {
  await expectShown(page, 'ts webhook-receiver', 'webhook-receiver.ts');
  const port = String(await freePort());
  const reader = readerOf(page, server, { ':4400': `:${port}` });
  const printed = await reader.run('sh webhook', 'echo "$WEBHOOK_SECRET"');
  const secret = /whsec_\S+/.exec(printed)?.[0] ?? '';
  const env = { ...reader.env, RECEIVER_PORT: port, WEBHOOK_SECRET: secret };
  const verified = 'verified: invoice.paid {"invoice_id":"inv_1","amount":4900}';
  const receiver = startExample('webhook-receiver.ts', env);
  await receiver.prints('Waiting for webhooks');
  await reader.run('sh webhook-event');
  await receiver.prints(verified);
  // The receiver prints before it answers, and an answer that is lost makes another attempt.
  await expect
    .poll(async () => (await webhooks.deliveries.list({ id: 'accounting' }))[0]?.state)
    .toBe('delivered');
  await receiver.stop('SIGTERM');
  await reader.run('sh webhook-event');
  const dead = async () => jsonForm((await reader.run('sh webhook-dead')).replaceAll(`:${port}`, ':4400'));
  await expect
    .poll(dead, { timeout: 90_000, interval: 500 })
    .toEqual(jsonForm(page.textAfter('sh webhook-dead')));
  const again = startExample('webhook-receiver.ts', env);
  await again.prints('Waiting for webhooks');
  expect(jsonForm(await reader.run('sh webhook-replay'))).toEqual(
    jsonForm(page.textAfter('sh webhook-replay')),
  );
  await again.prints(verified);
  await again.stop('SIGTERM');
});
