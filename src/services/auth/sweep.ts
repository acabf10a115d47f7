import type { Database } from '../../db/index.ts';
import { periodic } from '../../db/periodic.ts';
import { challengeStore } from './challenges.store.ts';
import type { Deps } from './deps.ts';
import { endedSessionStore } from './ended-sessions.store.ts';
import { enrollmentStore } from './enrollments.store.ts';
import { messageStore } from './messages.store.ts';
import { oidcStore } from './oidc.store.ts';
import { oneTimeStore } from './one-time.store.ts';
import { longestQuotaSeconds } from './text-quota.ts';
import { textSendStore } from './text-sends.store.ts';
import { throttleStore } from './throttles.store.ts';

/** Records of one statement. */
const mostAtOnce = 1_000;

/** Deletes what counts no more, every ten minutes. */
export const startSweep = ({ db, log }: Pick<Deps, 'db' | 'log'>): { stop(): Promise<void> } =>
  periodic({ db, log, name: 'auth.sweep', everyMs: 10 * 60_000, run: (signal) => sweep(db, { signal }) });

/**
 * Deletes failures of long ago, tokens and challenges that expired, factors that nobody verified, counts of texts, messages of last
 * week, what the OAuth provider kept until now, what is secret of sessions that ended, and those sessions after 30 days. It may be
 * cut off anywhere, and repeated.
 */
export async function sweep(
  db: Pick<Database, 'sql'>,
  { signal, batch = mostAtOnce }: { signal?: AbortSignal; batch?: number } = {},
): Promise<void> {
  const steps = [
    () => throttleStore(db.sql).forget(batch),
    () => oneTimeStore(db.sql).forget(batch),
    () => challengeStore(db.sql).forget(batch),
    () => enrollmentStore(db.sql).forget(batch),
    () => textSendStore(db.sql).forget(batch, longestQuotaSeconds),
    () => messageStore(db.sql).prune(batch),
    () => oidcStore(db.sql).forget(batch),
    () => endedSessionStore(db.sql).endExpired(batch),
    () => endedSessionStore(db.sql).forgetSpent(batch),
    () => endedSessionStore(db.sql).prune(batch),
  ];
  for (const step of steps) while (!signal?.aborted && (await step()) === batch);
}
