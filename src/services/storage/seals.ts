import type { Database } from '../../db/index.ts';
import type { Sweep } from '../../db/sweeps.ts';
import type { Sealer } from '../../lib/seal.ts';
import { metaStore } from './bytes/meta.store.ts';
import { openedLinkSecret, sealedLinkSecret } from './bytes/store-identity.ts';
import { credentialStore } from './credentials/credentials.store.ts';
import { openedSecret, sealedSecret } from './credentials/secrets.ts';

/** Seals what the previous master key sealed with the current one, so that the previous one can be forgotten. */
export function sealSweeps({ db, sealer }: { readonly db: Database; readonly sealer: Sealer }): Sweep[] {
  const { previousId } = sealer;
  if (previousId === undefined) return [];
  const meta = metaStore(db.sql);
  const credentials = credentialStore(db.sql);
  return [
    {
      name: 'storage.seals',
      everyMs: 600_000,
      batch: 500,
      steps: [
        async () => {
          const kept = await meta.sealedBy(previousId);
          if (kept !== undefined)
            await meta.reseal(kept, sealedLinkSecret(sealer, openedLinkSecret(sealer, kept)));
          return 0;
        },
        async (most) => {
          const found = await credentials.sealedBy(previousId, most);
          await credentials.reseal(
            found.map((one) => ({ ...one, sealed: sealedSecret(sealer, one, openedSecret(sealer, one)) })),
          );
          return found.length;
        },
      ],
    },
  ];
}
