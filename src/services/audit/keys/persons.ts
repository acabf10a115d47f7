import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import type { Sql } from '../../../db/index.ts';
import type { Sealer } from '../../../lib/seal.ts';
import { inSlices } from '../slices.ts';
import { type Person, personStore, type WrappedKey } from './persons.store.ts';

/** The keys of persons, by `personOf`. */
export type PersonKeys = ReadonlyMap<string, KeyObject>;

/** The purpose under which the keys of persons are sealed. */
const purpose = 'audit/person/v1';
/** How often a key may be destroyed between its creation and its lock before the write gives up. */
const mostRounds = 20;

/** The name of a person in maps. */
export const personOf = ({ tenant, app, ref }: Person): string =>
  `${tenant}\n${app}\n${Buffer.from(ref).toString('base64')}`;

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
        wrapped: sealer.seal(purpose, person.tenant, randomBytes(32)),
      })),
    );
  }
  if (wanted.size > 0) throw new Error('the keys of persons kept vanishing');
  return new Map();
}

/** The keys of those of these persons who were not erased. Read each time, so that an erasure counts at once in every process. */
export async function readKeys(sql: Sql, sealer: Sealer, persons: readonly Person[]): Promise<PersonKeys> {
  const wanted = new Map(persons.map((person) => [personOf(person), person]));
  return wanted.size === 0
    ? new Map()
    : await opened(sealer, await personStore(sql).list([...wanted.values()]));
}

const opened = async (sealer: Sealer, rows: readonly WrappedKey[]): Promise<PersonKeys> =>
  new Map(
    await inSlices(rows, ({ tenant_id, app_id, ref, wrapped }) => [
      personOf({ tenant: tenant_id, app: app_id, ref }),
      createSecretKey(sealer.open(purpose, tenant_id, wrapped)),
    ]),
  );
