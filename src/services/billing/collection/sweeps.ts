import type { Sweep } from '../../../db/sweeps.ts';
import { type DueInvoice, dueInvoiceStore } from '../invoices/due-invoices.store.ts';
import { lockInvoice } from '../invoices/open-invoice.ts';
import { overdue } from '../lifecycle/debts.ts';
import type { PaymentDeps } from '../payments/deps.ts';
import { reconcile } from '../payments/reconciliation.ts';
import { system } from '../writes.ts';
import { collectDue } from './collecting.ts';

/** How many invoices are collected at once, because an answer of a provider may take long. */
const atOnce = 8;

/** What becomes due of invoices: attempts to collect them, their due dates, and payments whose outcome is not known. */
export const collectionSweeps = (deps: PaymentDeps): Sweep[] => [
  {
    name: 'billing.collection',
    everyMs: deps.settings.tickMs,
    batch: atOnce,
    steps: [
      async (batch) => {
        const due = await dueInvoiceStore(deps.db.sql).toCollect(deps.clock.now(), batch);
        await Promise.all(due.map((one) => guarded(deps, one, () => collectDue(deps, one))));
        return due.length;
      },
    ],
  },
  {
    name: 'billing.overdue',
    everyMs: deps.settings.tickMs,
    batch: 100,
    steps: [
      async (batch, signal) => {
        const due = await dueInvoiceStore(deps.db.sql).overdue(deps.clock.now(), batch);
        for (const one of due)
          if (signal?.aborted !== true) await guarded(deps, one, () => markOverdue(deps, one));
        return due.length;
      },
    ],
  },
  {
    name: 'billing.reconciliation',
    everyMs: deps.settings.tickMs,
    batch: 20,
    steps: [(batch) => reconcile(deps, deps.clock.now(), batch)],
  },
];

const markOverdue = (deps: PaymentDeps, { tenant_id: tenant, app_id: app, id }: DueInvoice) =>
  deps.write(system(tenant, app), async (tx) => {
    const locked = await lockInvoice(tx, { tenant, app }, id);
    const { status, due_date } = locked.invoice;
    if (status !== 'pending' || due_date === null || Date.parse(due_date) > deps.clock.now()) return;
    await overdue(tx, deps, locked);
  });

/** How long an invoice is left alone that could not be worked on, so that it does not hold up the others. */
const patienceMs = 3_600_000;

async function guarded(deps: PaymentDeps, one: DueInvoice, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    deps.log.error({ err: error, invoice: one.id }, 'an invoice could not be collected');
    await dueInvoiceStore(deps.db.sql).postpone(one, deps.clock.now() + patienceMs);
  }
}
