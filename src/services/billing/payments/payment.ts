import type {
  Metadata,
  NextAction,
  Payment,
  PaymentStatus,
  ProcessorName,
} from '../../../../generated/billing/types.ts';
import { moneyOf } from '../money/money.ts';
import type { Charge, Source } from '../providers/provider.ts';
import type { Standing } from './outcome.ts';

/** A payment as it is stored. Amounts are minor units, times texts as in responses. */
export interface PaymentRow {
  readonly tenant_id: string;
  readonly id: string;
  readonly app_id: string;
  readonly invoice_id: string;
  readonly customer_id: string | null;
  readonly payment_method_id: string | null;
  readonly amount: number;
  readonly currency: string;
  readonly status: PaymentStatus;
  readonly processor_name: ProcessorName;
  readonly processor_id: string | null;
  readonly refunded_amount: number;
  readonly refunding_amount: number;
  readonly refund_reason: string | null;
  readonly received_amount: number;
  readonly unapplied_amount: number;
  readonly reclaimed_amount: number;
  readonly failure_code: string | null;
  readonly failure_message: string | null;
  readonly next_action: NextAction | null;
  readonly source: Source | null;
  readonly metadata: Metadata;
  readonly idempotency_key: string | null;
  readonly request_digest: Uint8Array | null;
  readonly is_automatic: boolean;
  readonly check_at: string | null;
  readonly created_at: string;
  readonly completed_at: string | null;
  readonly updated_at: string;
}

/** Which payment of which tenant, and what has to be locked before it. */
export type PaymentKey = Pick<PaymentRow, 'tenant_id' | 'app_id' | 'id' | 'invoice_id'>;

const hasArrived = ({ status }: PaymentRow): boolean => status === 'succeeded' || status === 'refunded';

/** A payment as responses show it. The amount is what has arrived, once something has. */
export const paymentOf = (row: PaymentRow): Payment => ({
  id: row.id,
  tenant_id: row.tenant_id,
  invoice_id: row.invoice_id,
  customer_id: row.customer_id,
  payment_method_id: row.payment_method_id,
  amount: moneyOf(BigInt(hasArrived(row) ? row.received_amount : row.amount), row.currency),
  status: row.status,
  processor_name: row.processor_name,
  processor_id: row.processor_id,
  refunded_amount: moneyOf(BigInt(row.refunded_amount), row.currency),
  refund_reason: row.refund_reason,
  failure_code: row.failure_code,
  failure_message: row.failure_message,
  next_action: row.next_action,
  metadata: row.metadata,
  created_at: row.created_at,
  completed_at: row.completed_at,
  updated_at: row.updated_at,
});

/** A payment as events show it: with the secret of its next action, anybody could finish it. */
export const paymentEvent = (row: PaymentRow): Payment => paymentOf({ ...row, next_action: null });

export const standingOf = (row: PaymentRow): Standing => ({
  status: row.status,
  received: BigInt(row.received_amount),
  refunded: BigInt(row.refunded_amount),
  failure: row.failure_code === null ? null : { code: row.failure_code, message: row.failure_message ?? '' },
});

/** The payment as the provider is asked for it, the same however often. */
export const chargeOf = ({ id, tenant_id: tenant, amount, currency, source }: PaymentRow): Charge => ({
  ...{ id, tenant, currency, amount: BigInt(amount) },
  source: source ?? undefined,
});

/** What can still be refunded. */
export const refundable = (row: PaymentRow): bigint =>
  BigInt(row.received_amount - row.refunded_amount - row.refunding_amount);

/** The status in a sentence. */
export const statusText = (status: PaymentStatus): string => `payment ${statusTexts[status]}`;

const statusTexts: Readonly<Record<PaymentStatus, string>> = {
  pending: 'is pending',
  succeeded: 'has succeeded',
  failed: 'has failed',
  refunded: 'was refunded',
  canceled: 'was canceled',
};
