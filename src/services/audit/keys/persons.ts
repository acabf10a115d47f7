import type { Database, Sql } from '../../../db/index.ts';
import type { Sweep } from '../../../db/sweeps.ts';
import type { Sealer } from '../../../lib/seal.ts';
import { PersonKey } from '../record/person-key.ts';
import { inSlices } from '../../../lib/slices.ts';
import { type Person, personStore, type SealedPersonKey } from './persons.store.ts';
import { newSealedKey, openedKey, type SealDeps, sealSweeps } from './sealed-keys.ts';

/** The keys of persons, by `personOf`. */
export type PersonKeys = ReadonlyMap<string, PersonKey>;

const purpose = 'audit/person/v1';
/** How often a key may be destroyed between its creation and its lock before the write gives up. */
const mostRounds = 20;

/** The name of a person in maps. */
export const personOf = ({ tenant, app, ref }: Person): string =>
  `${tenant}\n${app}\n${ref.toString('latin1')}`;

/**
 * Locks the keys of persons until the end of the transaction, and gives one to everybody who has none. An erasure waits for this
 * transaction; events that follow an erasure get a new key.
 */
export async function lockKeys(sql: Sql, sealer: Sealer, persons: readonly Person[]): Promise<PersonKeys> {
  const wanted = new Map(persons.map((person) => [personOf(person), person]));
  const store = personStore(sql);
  for (let round = 0; wanted.size > 0 && round < mostRounds; round++) {
    const keys = await opened(sealer, await store.lock([...wanted.values()]));
    const missing = [...wanted].filter(([name]) => !keys.has(name)).map(([, person]) => person);
    if (missing.length === 0) return keys;
    await store.insert(
      await inSlices(missing, (person) => ({
        ...person,
        sealed: newSealedKey(sealer, purpose, person.tenant),
      })),
    );
  }
  if (wanted.size > 0) throw new Error('the keys of persons kept vanishing');
  return new Map();
}

/** Opens the key of a person as it is stored under a reference; undefined for one that is not there. */
export type OpenedKeys = (tenant: string, sealed: Buffer | null, ref: Buffer | null) => PersonKey | undefined;

/** Opens keys that were read together, each once: a page often has many events of one person. */
export function openedKeys(sealer: Sealer): OpenedKeys {
  const known = new Map<string, PersonKey>();
  return (tenant, sealed, ref) => {
    if (sealed === null || ref === null) return undefined;
    const name = `${sealed.toString('latin1')}${ref.toString('latin1')}`;
    let key = known.get(name);
    if (key === undefined)
      known.set(name, (key = openedPersonKey(sealer, { tenant_id: tenant, sealed, ref })));
    return key;
  };
}

/** @throws UnreadableKey */
export const openedPersonKey = (
  sealer: Sealer,
  key: Pick<SealedPersonKey, 'tenant_id' | 'sealed' | 'ref'>,
): PersonKey => new PersonKey(openedKey(sealer, purpose, key), key.ref);

const opened = async (sealer: Sealer, rows: readonly SealedPersonKey[]): Promise<PersonKeys> =>
  new Map(
    await inSlices(rows, (row) => [
      personOf({ tenant: row.tenant_id, app: row.app_id, ref: row.ref }),
      openedPersonKey(sealer, row),
    ]),
  );

/** Seals the keys of persons anew after a change of the master key. */
export const personKeySweeps = ({ db, ...deps }: SealDeps & { readonly db: Database }): Sweep[] =>
  sealSweeps('audit.person_keys', deps, { purpose, ...personStore(db.background) });
