import { afterAll, beforeAll, expect, test } from 'vitest';
import { Big } from 'big.js';
import type { ServiceModule } from '../../../http/service.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { encodeError } from '../errors.ts';
import { billing } from '../index.ts';
import { invoiceStore, type InvoiceRow } from '../invoices/invoices.store.ts';
import type { Settings } from '../settings.ts';
import { invoiceFiles } from './invoice-files.ts';
import { createInvoicePdfs } from './pdf/invoice-pdfs.ts';

/** The service with nothing but its files. */
const files: ServiceModule = {
  ...billing,
  built: ['Invoices_pdf'],
  create: ({ db, settings }) => {
    const given = settings as Settings;
    return {
      handlers: { Invoices: invoiceFiles({ db, settings: given }, createInvoicePdfs(given)) },
      encodeError,
      outbox: {},
    };
  },
};
const serverWith = (env: Record<string, string>) =>
  testServer({ services: ['billing'], modules: [files], env });

const customerId = 'cus_01kf0h8v90fkrvgzcvdpyndt3q';
const period = { start: Date.parse('2026-01-15T10:00:00.000Z'), end: Date.parse('2026-02-15T10:00:00.000Z') };
const figures = {
  subtotal: 4_900,
  discount_amount: 0,
  tax_amount: 0,
  total: 4_900,
  credit_applied: 0,
  carried_amount: 0,
  amount_due: 4_900,
  amount_paid: 0,
};
const draft: InvoiceRow = {
  ...{
    tenant_id: 'acme',
    id: 'inv_01khgbwb6gfcvt5fwr9s2r6n64',
    app_id: 'default',
    number: null,
  },
  ...{
    subscription_id: 'sub_01kf0hj080fy68aq2kxr1eh230',
    customer_id: customerId,
    status: 'draft',
    origin: 'renewal',
  },
  ...{ currency: 'usd', ...figures, discounts: [], taxes: [], returns: [], bill_to: null },
  set_off_amount: 0,
  tax_status: 'complete',
  period_start: new Date(period.start).toISOString(),
  period_end: new Date(period.end).toISOString(),
  ...{
    due_date: null,
    finalized_at: null,
    paid_at: null,
    voided_at: null,
    void_reason: null,
    payment_ref: null,
  },
  ...{ attempt_count: 0, next_attempt_at: null, auto_finalize_at: null, metadata: {} },
  ...{ created_at: '2026-02-15T10:00:02.000Z', updated_at: '2026-02-15T10:00:02.000Z' },
};
const final: InvoiceRow = {
  ...draft,
  ...{ id: 'inv_01khgbwb6gfcvt5fwr9s2r6n65', number: 'INV-2026-000002', status: 'pending' },
  finalized_at: '2026-02-15T11:00:00.000Z',
  bill_to: { name: 'Acme GmbH', email: 'billing@acme.example', billing_address: null, tax_ids: [] },
};

let server: TestServer;
beforeAll(async () => {
  server = await serverWith({ PLINTH_BILLING_SELLER: '{"name":"Plinth Cloud GmbH"}' });
  const { sql } = server.db;
  for (const row of [draft, final]) await invoiceStore(sql).insert(row);
  await invoiceStore(sql).replaceLines(draft, [
    {
      ...{
        type: 'base',
        description: 'Pro',
        quantity: new Big(1),
        unit: new Big(4_900),
        flat: 0n,
        amount: 4_900n,
        period,
      },
      key: {
        periodStart: period.start,
        planId: 'plan_01kekj4hm0ez2s1gqhd4r2btjz',
        revision: 1,
        featureKey: null,
      },
    },
  ]);
  const at = new Date(draft.created_at);
  await sql`
    insert into billing.customer ${sql({
      ...{ tenant_id: 'acme', id: customerId, app_id: 'default', name: 'Acme GmbH', email: 'a@acme.example' },
      ...{
        email_key: 'a@acme.example',
        currency: 'usd',
        tax_ids: [],
        metadata: {},
        created_at: at,
        updated_at: at,
      },
    })}`;
});
afterAll(() => server.close());

const get = async (ref: string) => {
  const response = await fetch(`${server.url}/billing/billing/invoices/${ref}/pdf`, {
    headers: { authorization: `Bearer ${server.rootToken}` },
  });
  return { response, file: Buffer.from(await response.arrayBuffer()) };
};

test('an invoice is a file with its number as name, by its id and its number', async () => {
  const [byId, byNumber] = [await get(final.id), await get(final.number!)];
  expect(byId.response.status).toBe(200);
  expect(byId.response.headers.get('content-type')).toBe('application/pdf');
  expect(byId.response.headers.get('content-disposition')).toBe('inline; filename="INV-2026-000002.pdf"');
  expect(byId.file.toString('latin1')).toMatch(/^%PDF-1\.4\n[^]*%%EOF\n$/);
  expect(byNumber.file.equals(byId.file)).toBe(true);
});

test('a draft shows its customer until that is erased', async () => {
  const before = await get(draft.id);
  await server.db
    .sql`update billing.customer set deleted_at = ${new Date(draft.created_at)}, name = '', email = ''`;
  expect(before.response.headers.get('content-disposition')).toBe(`inline; filename="${draft.id}.pdf"`);
  const after = await get(draft.id);
  expect([before.response.status, after.response.status]).toEqual([200, 200]);
  expect(after.file.length).toBeLessThan(before.file.length);
});

test('an invoice of another tenant is answered like one that never existed', async () => {
  const of = (ref: string) =>
    server.request('GET', `/billing/billing/invoices/${ref}/pdf`, { tenant: 'other' });
  const [foreign, unknown] = [await of(final.id), await of('inv_01khgbwb6gfcvt5fwr9s2r6n66')];
  expect([foreign.status, foreign.text]).toEqual([404, unknown.text]);
  expect(foreign.body.error).toMatchObject({ code: 'invoice_not_found', message: 'invoice not found' });
  expect((await of(final.number!)).text).toBe(unknown.text);
});

test('where files are switched off, the answer says so', async () => {
  const without = await serverWith({ PLINTH_BILLING_PDF: 'off' });
  try {
    const { status, body } = await without.request('GET', `/billing/billing/invoices/${final.id}/pdf`);
    expect([status, body.error.code, body.error.message]).toEqual([
      501,
      'not_implemented',
      'PDF is switched off',
    ]);
  } finally {
    await without.close();
  }
});
