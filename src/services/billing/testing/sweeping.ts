import { pino } from 'pino';
import type { Clock } from '../../../db/clock.ts';
import type { Database } from '../../../db/index.ts';
import { runSweep } from '../../../db/sweeps.ts';
import { readSettings } from '../../../lib/settings.ts';
import { noteFailure } from '../collection/collecting.ts';
import { collectionSweeps } from '../collection/sweeps.ts';
import type { Deps } from '../deps.ts';
import { finalizingSweep } from '../invoicing/sweeps.ts';
import { lifecycleSweeps } from '../lifecycle/sweeps.ts';
import type { PaymentDeps } from '../payments/deps.ts';
import { createLater } from '../payments/later.ts';
import { createRevisions } from '../plans/revisions.ts';
import type { Provider } from '../providers/provider.ts';
import { testProvider } from '../providers/test-provider.ts';
import { settings } from '../settings.ts';
import { createWriter } from '../writes.ts';

/** Does, when the test asks, what the sweeps of a server would have done until now. */
export function sweeping(
  { db }: { readonly db: Database },
  clock: Clock,
  { env = {}, provider = testProvider }: { env?: Readonly<Record<string, string>>; provider?: Provider } = {},
): () => Promise<void> {
  const log = pino({ level: 'silent' });
  const deps: Deps = {
    db,
    write: createWriter({ db }),
    settings: readSettings(settings, env),
    log,
    clock,
    revisions: createRevisions(),
    chargeLimits: provider.limitsOf,
  };
  const paying: PaymentDeps = { ...deps, provider, later: createLater(log), onFailed: noteFailure(deps) };
  const sweeps = [...lifecycleSweeps(deps), finalizingSweep(deps), ...collectionSweeps(paying)];
  return async () => {
    for (const sweep of sweeps) await runSweep(sweep);
    await paying.later.idle();
  };
}
