import type { Sweep } from '../../../db/sweeps.ts';
import type { Deps } from '../deps.ts';
import type { Sealing } from '../sealing.ts';
import { type Sealed, sealStore } from './seals.store.ts';

/** Seals what the previous master key sealed with the current one, so that the previous one can be forgotten. */
export const sealSweeps = ({ db, sealing }: Pick<Deps, 'db' | 'sealing'>): Sweep[] => {
  const { previousId } = sealing;
  if (previousId === undefined) return [];
  const store = sealStore(db.sql);
  return [
    {
      name: 'webhooks.seals',
      everyMs: 600_000,
      batch: 500,
      steps: [
        async (most) => {
          const found = await store.sealedBy(previousId, most);
          await store.replace(found.map((one) => ({ ...one, sealed: sealedAnew(sealing, one) })));
          return found.length;
        },
      ],
    },
  ];
};

function sealedAnew(sealing: Sealing, one: Sealed): Buffer {
  return one.secret_id === null
    ? sealing.sealHeaders(one, sealing.openHeaders(one, one.box))
    : sealing.sealSecret(one, sealing.openSecret(one, one.box));
}
