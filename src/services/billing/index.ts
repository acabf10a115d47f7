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
import type { Deps } from './deps.ts';
import { entitlements } from './entitlements/entitlements.ts';
import { createGrants } from './entitlements/grants.ts';
import { encodeError } from './errors.ts';
import { createIntake } from './meter/intake.ts';
import { meter } from './meter/meter.ts';
import { createRevisions } from './plans/revisions.ts';
import { settings } from './settings.ts';
import { createWriter } from './writes.ts';

/** The module, by the clock of this process. */
export const billing = billingBy({ now: () => Date.now() });

/** The module by another clock, which tests turn. */
export function billingBy(clock: Clock): ServiceModule<typeof settings> {
  return {
    name: 'billing',
    migrations: new URL('./migrations/', import.meta.url),
    settings,
    built: ['Meter', 'Entitlements'],
    create({ db, settings, log }): Service {
      const deps: Deps = {
        db,
        write: createWriter({ db }),
        settings,
        log,
        clock,
        revisions: createRevisions(),
      };
      const intake = createIntake({
        db,
        mostWaiting: settings.meterBuffer,
        mostTogether: settings.meterBatch,
      });
      const grants = createGrants(deps);
      return {
        handlers: {
          Entitlements: entitlements({ ...deps, grants }),
          Meter: meter({ ...deps, intake, grants }),
        },
        encodeError,
        outbox: {},
        queues: intake.queues,
        stop: () => intake.close(),
      };
    },
  };
}
