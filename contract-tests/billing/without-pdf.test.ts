/** A server on which PDF is switched off. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { connect, type Api } from '../harness.ts';
import { startServer, type Running } from '../process.ts';
import { servedBy } from '../targets.ts';
import { payer } from './payers.ts';

const hasInvoices = servedBy('server').some(
  ({ service, resource }) => service === 'billing' && resource === 'Invoices',
);

describe.skipIf(!hasInvoices)('billing without PDF', () => {
  const breaches: string[] = [];
  let server: Running;
  let api: Api;
  beforeAll(async () => {
    server = await startServer({ environment: { PLINTH_BILLING_PDF: 'off' } });
    const { url, rootToken } = server;
    api = connect({ target: 'server', url, rootToken, onBreach: (breach) => breaches.push(breach) });
  });
  afterAll(() => server.stop());
  afterEach(() => expect(breaches.splice(0), 'answers that break the contract').toEqual([]));

  it('Invoices pdf: 501', async () => {
    const { tenant, invoice } = await payer(api);
    await tenant.refused(501, 'PDF is switched off', ({ billing }) =>
      billing.invoices.pdf({ invoice: invoice.id }),
    );
  });
});
