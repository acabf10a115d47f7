import type { Payments } from '../../../../generated/billing/server.ts';
import type { Context } from '../../../http/context.ts';
import { viewOf } from '../../../http/view.ts';
import { PaymentNotFound } from '../errors.ts';
import { moneyOf } from '../money/money.ts';
import { pageOf } from '../pages.ts';
import { requestKeyOf } from '../request-keys.ts';
import { cancel } from './canceling.ts';
import { collect, refuseAsBefore } from './charging.ts';
import type { PaymentDeps } from './deps.ts';
import { paymentOf } from './payment.ts';
import { paymentStore } from './payments.store.ts';
import { reconcilePayment } from './reconciliation.ts';
import { refund } from './refunding.ts';
import { reserve } from './reservation.ts';

/** Payments: attempts to move money for invoices, and refunds. */
export const payments = (deps: PaymentDeps) => {
  const { db, write, clock, later } = deps;
  return {
    async create({ body }, context) {
      const idempotency_key = body.idempotency_key ?? requestKeyOf(context);
      const wanted = { ...body, ...(idempotency_key !== undefined && { idempotency_key }) };
      const { payment, isRepeat } = await write(context, (tx) => reserve(tx, deps, viewOf(context), wanted));
      if (isRepeat) refuseAsBefore(payment);
      return paymentOf(isRepeat ? payment : await collect(deps, payment));
    },

    async list({ limit, offset, tenant_id, ...filter }, context) {
      const page = { limit, offset };
      return pageOf(
        page,
        await paymentStore(db.sql).list(viewOf(context, tenant_id), filter, page),
        paymentOf,
      );
    },

    async get({ id }, context) {
      const payment = await paymentStore(db.sql).find(viewOf(context), id);
      if (payment === undefined) throw PaymentNotFound();
      return paymentOf(payment);
    },

    async refund({ id, body = { reason: null } }, context) {
      const row = await refund(
        deps,
        { author: context, view: viewOf(context), key: requestKeyOf(context) },
        id,
        body,
      );
      const refunded_amount = moneyOf(BigInt(row.refunded_amount), row.currency);
      return { id, status: row.status, refunded_amount, refund_reason: row.refund_reason };
    },

    async cancel({ id }, context) {
      const canceled = await write(context, (tx) => cancel(tx, deps, viewOf(context), id));
      // The provider learns of it after the response, or from the reconciliation when that fails.
      if (canceled.processor_id !== null) later.run(() => reconcilePayment(deps, canceled, clock.now()));
      return paymentOf(canceled);
    },
  } satisfies Payments<Context>;
};
