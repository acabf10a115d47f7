import type { Sweep } from '../../db/sweeps.ts';
import { momentText } from '../../lib/moments.ts';
import type { Sealer } from '../../lib/seal.ts';
import type { Deps } from './deps.ts';
import { firstIdAt, hourOf } from './scans/periods.ts';
import { scanStore } from './scans/scans.store.ts';
import { statsStore } from './scans/stats.store.ts';
import { rewrapped } from './vault/keys.ts';
import { keyStore } from './vault/keys.store.ts';
import { tokenStore } from './vault/tokens.store.ts';

const minuteMs = 60_000;
const dayMs = 86_400_000;
const batch = 5_000;

/** What is deleted when its time has passed, and what is put in order now and then. */
export const sweeps = ({
  db,
  changes,
  settings,
  sealer,
}: Pick<Deps, 'db' | 'changes' | 'settings'> & { readonly sealer: Sealer }): Sweep[] => {
  const tokens = tokenStore(db.sql);
  const { previousId } = sealer;
  return [
    {
      name: 'safety.scans',
      everyMs: minuteMs,
      batch,
      steps: [(most) => scanStore(db.sql).drop(firstIdAt(changes.clock.now() - settings.retentionMs), most)],
    },
    {
      name: 'safety.vault',
      everyMs: minuteMs,
      batch,
      steps: [(most) => tokens.dropExpired(most), (most) => tokens.dropUnreadable(most)],
    },
    {
      name: 'safety.counters',
      everyMs: dayMs,
      batch,
      steps: [(most) => statsStore(db.sql).merge(momentText(hourOf(changes.clock.now() - dayMs)), most)],
    },
    ...(previousId === undefined ? [] : [keySweep({ db, sealer }, previousId)]),
  ];
};

/** Seals what the previous master key sealed with the current one, so that the previous one can be forgotten. */
const keySweep = (
  { db, sealer }: Pick<Deps, 'db'> & { readonly sealer: Sealer },
  previousId: Buffer,
): Sweep => ({
  name: 'safety.keys',
  everyMs: 600_000,
  batch: 500,
  steps: [
    async (most) => {
      const rows = await keyStore(db.sql).sealedBy(previousId, most);
      await keyStore(db.sql).rewrap(rows.map((row) => ({ ...row, wrapped: rewrapped(sealer, row) })));
      return rows.length;
    },
  ],
});
