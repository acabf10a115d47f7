/**
 * Billing: turns what a tenant uses into what it owes, and what it pays into what it may use.
 *
 * Terminology:
 * - Plan: an offer of an app. Revision: its features and prices from one change to the next; never changed.
 * - Subscription: a tenant's running agreement on one plan. Live: neither canceled nor expired.
 * - Period: the stretch that one base price covers. Window: the month in which a monthly counter runs.
 * - Segment: the smallest stretch of a subscription with one plan, base price, period, window and kind.
 * - Usage event: one metered fact. Placing: counting it in the segment of its time. Rating: turning a quantity into money.
 * - Group: what is settled as one. Settlement: what final invoices have billed of a group; an invoice is what is owed minus that.
 * - Collection: charging a payment method, and again after a failure. Processor: whoever moves the money.
 */
import type { Clock } from '../../db/clock.ts';
import type { Service, ServiceModule } from '../../http/service.ts';
import { accounts } from './accounts/accounts.ts';
import { noteFailure } from './collection/collecting.ts';
import { collectionSweeps } from './collection/sweeps.ts';
import { coupons } from './coupons/coupons.ts';
import { customers } from './customers/customers.ts';
import type { Deps } from './deps.ts';
import { entitlements } from './entitlements/entitlements.ts';
import { createGrants } from './entitlements/grants.ts';
import { encodeError } from './errors.ts';
import { invoiceFiles } from './invoicing/invoice-files.ts';
import { invoices } from './invoicing/invoices.ts';
import { createInvoicePdfs } from './invoicing/pdf/invoice-pdfs.ts';
import { finalizingSweep } from './invoicing/sweeps.ts';
import { bringTenantUpToDate, lifecycleSweeps } from './lifecycle/sweeps.ts';
import { subscriptions } from './lifecycle/subscriptions.ts';
import { createIntake } from './meter/intake.ts';
import { meter } from './meter/meter.ts';
import { noLimits } from './money/charge-limits.ts';
import { notifications } from './notifications/notifications.ts';
import { secretsOf } from './notifications/secrets.ts';
import { providerEventSweep } from './notifications/sweeps.ts';
import type { PaymentDeps } from './payments/deps.ts';
import { createLater } from './payments/later.ts';
import { paymentMethods } from './payments/payment-methods.ts';
import { payments } from './payments/payments.ts';
import { plans } from './plans/plans.ts';
import { createRevisions } from './plans/revisions.ts';
import { checkProvider, createProvider } from './providers/providers.ts';
import { settings } from './settings.ts';
import { taxRates } from './tax-rates/tax-rates.ts';
import { createWriter } from './writes.ts';

/** The module, by the clock of this process. */
export const billing = billingBy({ now: () => Date.now() });

/** The module by another clock, which tests turn. */
export function billingBy(clock: Clock): ServiceModule<typeof settings> {
  return {
    name: 'billing',
    migrations: new URL('./migrations/', import.meta.url),
    settings,
    checkSettings: ({ settings }) => checkProvider(settings),
    notes: ({ settings, production }) =>
      production && settings.provider === 'test'
        ? [['billing', 'PLINTH_BILLING_PROVIDER is test: payments succeed, and no money moves']]
        : [],
    async create({ db, settings, log, dataDir }): Promise<Service> {
      const provider = await createProvider(settings);
      const deps: Deps = {
        db,
        write: createWriter({ db }),
        settings,
        log,
        clock,
        revisions: createRevisions(),
        chargeLimits: provider?.limitsOf ?? noLimits,
      };
      const secrets = await secretsOf(settings, dataDir);
      const later = createLater(log);
      const paying: PaymentDeps = { ...deps, provider, later, onFailed: noteFailure(deps) };
      const intake = createIntake({
        db,
        mostWaiting: settings.meterBuffer,
        mostTogether: settings.meterBatch,
      });
      const pdfs = createInvoicePdfs(settings);
      const grants = createGrants({ ...deps, current: bringTenantUpToDate(deps) });
      return {
        handlers: {
          Coupons: coupons(deps),
          Customers: { ...customers(deps), ...accounts({ ...paying, grants }) },
          Entitlements: entitlements({ ...deps, grants }),
          Invoices: { ...invoices(deps), ...invoiceFiles(deps, pdfs) },
          Meter: meter({ ...deps, intake, grants }),
          Notifications: notifications({ ...paying, secrets }),
          PaymentMethods: paymentMethods(paying),
          Payments: payments(paying),
          Plans: plans(deps),
          Subscriptions: subscriptions(deps),
          TaxRates: taxRates(deps),
        },
        encodeError,
        outbox: {},
        sweeps: [providerEventSweep(deps), ...(settings.tickMs === 0 ? [] : ticks(deps, paying))],
        queues: () => [...intake.queues(), { queue: 'billing.pdf', ...pdfs.load() }],
        async stop() {
          await intake.close();
          await later.idle();
        },
      };
    },
  };
}

/** What time alone changes. */
const ticks = (deps: Deps, paying: PaymentDeps) => [
  ...lifecycleSweeps(deps),
  finalizingSweep(deps),
  ...collectionSweeps(paying),
];
