import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { PaymentCreate } from '../../../../generated/billing/types.ts';
import type { View } from '../../../db/view.ts';
import { Invalid } from '../../../lib/errors.ts';
import { newId } from '../../../lib/ids.ts';
import { CustomerNotFound, KeyReused, PaymentMethodNotFound, Refused } from '../errors.ts';
import type { InvoiceRow } from '../invoices/invoices.store.ts';
import { lockInvoice, openInvoice } from '../invoices/open-invoice.ts';
import { checkMetadata } from '../metadata.ts';
import { chargeFault } from '../money/charge-limits.ts';
import { configured } from '../providers/providers.ts';
import type { Write } from '../writes.ts';
import { leaseMs } from './checks.ts';
import type { PaymentDeps } from './deps.ts';
import { type MethodRow, methodStore } from './methods.store.ts';
import { payerStore } from './payers.store.ts';
import { paymentEvent, type PaymentRow } from './payment.ts';
import { paymentStore } from './payments.store.ts';

/** A payment that is wanted. */
export interface Wanted extends PaymentCreate {
  /** Whether an attempt of collection wants it. */
  readonly isAutomatic?: boolean;
}

/** A stored payment, and whether it was made by an earlier request with the same key. */
export interface Reserved {
  readonly payment: PaymentRow;
  readonly isRepeat: boolean;
}

/**
 * Stores a payment of an invoice, before anybody asks the provider for it: from here on its amount is taken, and nobody else can be
 * charged for it.
 */
export async function reserve(tx: Write, deps: PaymentDeps, view: View, wanted: Wanted): Promise<Reserved> {
  checkMetadata(wanted.metadata);
  const request_digest = digestOf(wanted);
  const earlier = await repeated(tx, view, wanted, request_digest);
  if (earlier !== undefined) return { payment: earlier, isRepeat: true };
  const invoice = await openInvoice(tx, deps, view, wanted.invoice_id);
  const { customerId, method } = await payerOf(tx, view, invoice, wanted);
  const provider = configured(deps.provider);
  if (method !== undefined && method.processor_name !== provider.name)
    throw Invalid('payment_method_id: belongs to another provider');
  const at = deps.clock.now();
  const payment = await paymentStore(tx.sql).reserve(
    {
      ...{
        tenant_id: invoice.tenant_id,
        app_id: invoice.app_id,
        id: newId('pay', at),
        invoice_id: invoice.id,
      },
      ...{ customer_id: customerId, payment_method_id: method?.id ?? null, currency: invoice.currency },
      processor_name: provider.name,
      source: method ? { processorId: method.processor_id, customerId: method.processor_customer_id } : null,
      metadata: wanted.metadata,
      idempotency_key: wanted.idempotency_key ?? null,
      request_digest,
      is_automatic: wanted.isAutomatic ?? false,
    },
    amountOf(wanted, invoice),
    { at, checkAt: at + leaseMs },
  );
  if (payment === undefined) throw TooMuch();
  const open = BigInt(invoice.amount_due - invoice.amount_paid);
  const fault = chargeFault(
    BigInt(payment.amount),
    open,
    deps.chargeLimits(invoice.currency),
    invoice.currency,
  );
  if (fault !== undefined) throw Refused('invalid_amount', `amount: ${fault}`);
  tx.emit('billing.payment.created', payment, paymentEvent(payment));
  return { payment, isRepeat: false };
}

export const TooMuch = () => Refused('invalid_amount', 'amount: more than there is');

const digestOf = ({ idempotency_key: key, isAutomatic: _, ...wanted }: Wanted): Buffer | null =>
  key === undefined
    ? null
    : createHash('sha256')
        .update(canonicalize(wanted) ?? '')
        .digest();

/**
 * The payment that an earlier request with the same key has made. The invoice is locked before, so that of two at once one waits.
 * @throws KeyReused
 */
async function repeated(
  tx: Write,
  view: View,
  { idempotency_key: key, invoice_id }: Wanted,
  digest: Buffer | null,
): Promise<PaymentRow | undefined> {
  if (key === undefined || digest === null) return undefined;
  const { invoice } = await lockInvoice(tx, view, invoice_id);
  const earlier = await paymentStore(tx.sql).keyed(invoice, key);
  if (earlier === undefined) return undefined;
  if (earlier.request_digest === null || !digest.equals(earlier.request_digest)) throw KeyReused();
  return earlier;
}

/** @throws Refused `invalid_amount` */
function amountOf({ amount }: Wanted, { currency }: InvoiceRow): bigint | undefined {
  if (amount === undefined) return undefined;
  if (amount.currency !== currency) throw Refused('invalid_amount', `amount: must be in ${currency}`);
  if (amount.amount === 0) throw Refused('invalid_amount', 'amount: must be more than 0');
  return BigInt(amount.amount);
}

/**
 * Who pays, and with what. The operator may name customers of any tenant, but a payment stays within one.
 * @throws CustomerNotFound, PaymentMethodNotFound or Invalid
 */
async function payerOf(
  { sql }: Pick<Write, 'sql'>,
  view: View,
  invoice: InvoiceRow,
  { customer_id, payment_method_id }: Wanted,
): Promise<{ customerId: string | null; method: MethodRow | undefined }> {
  const method =
    payment_method_id === null ? undefined : await methodStore(sql).find(view, payment_method_id);
  if (payment_method_id !== null && method === undefined) throw PaymentMethodNotFound();
  if (method !== undefined && method.tenant_id !== invoice.tenant_id)
    throw Invalid('payment_method_id: belongs to another tenant than the invoice');
  if (customer_id !== null) checkPayer(await payerStore(sql).find(view, customer_id), invoice);
  const customerId = customer_id ?? invoice.customer_id ?? method?.customer_id ?? null;
  if (method !== undefined && method.customer_id !== customerId)
    throw Invalid('payment_method_id: belongs to another customer');
  return { customerId, method };
}

function checkPayer(payer: { tenant_id: string; currency: string } | undefined, invoice: InvoiceRow): void {
  if (payer === undefined) throw CustomerNotFound();
  if (payer.tenant_id !== invoice.tenant_id)
    throw Invalid('customer_id: belongs to another tenant than the invoice');
  if (payer.currency !== invoice.currency)
    throw Invalid(`customer_id: must be a customer who is billed in ${invoice.currency}`);
}
