import { periodic } from '../../db/periodic.ts';
import type { Deps } from './deps.ts';
import { oidcStore } from './oidc.store.ts';

const batch = 1_000;

/** Deletes what the OAuth library keeps and nobody can use any more. */
export const startOidcSweep = ({ db, log }: Pick<Deps, 'db' | 'log'>): { stop(): Promise<void> } =>
  periodic({
    db,
    log,
    name: 'auth.oidc',
    everyMs: 10 * 60_000,
    async run(signal) {
      while ((await oidcStore(db.sql).forget(batch)) === batch && !signal.aborted);
    },
  });
