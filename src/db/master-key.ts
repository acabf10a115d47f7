import type { Sealer } from '../lib/seal.ts';
import type { Sql } from './sql.ts';

/** The server's master key is not the one that sealed the database. The message is a sentence for the operator. */
export class MasterKeyError extends Error {
  override readonly name = 'MasterKeyError';
}

/**
 * Compares the master key with the one that sealed the database. The first server records its key; a server that has the recorded key
 * as its previous key records its new one. Throws a `MasterKeyError` for any other key: other servers could not read what this server
 * seals, and this server could not read what is already sealed.
 */
export async function checkMasterKey(
  sql: Sql,
  { fingerprint, previousFingerprint }: Pick<Sealer, 'fingerprint' | 'previousFingerprint'>,
): Promise<void> {
  await sql`insert into plinth.master_key (fingerprint) values (${fingerprint}) on conflict do nothing`;
  if (previousFingerprint !== undefined)
    await sql`
      update plinth.master_key set fingerprint = ${fingerprint}, since = now()
      where fingerprint = ${previousFingerprint}`;
  const [known] = await sql`select from plinth.master_key where fingerprint = ${fingerprint}`;
  if (known) return;
  throw new MasterKeyError(anotherKey);
}

const anotherKey =
  'the database was sealed with another master key: give every server the same PLINTH_MASTER_KEY, and the key before it as PLINTH_MASTER_KEY_PREVIOUS when it is replaced';

/** What `checkMasterKey` would throw, as a sentence; nothing is recorded. */
export async function masterKeyProblem(
  sql: Sql,
  { fingerprint, previousFingerprint }: Pick<Sealer, 'fingerprint' | 'previousFingerprint'>,
): Promise<string | undefined> {
  const sealed = await sealedFingerprint(sql);
  const fits = [fingerprint, previousFingerprint].some((own) => sealed?.equals(own ?? Buffer.alloc(0)));
  return sealed === undefined || fits ? undefined : anotherKey;
}

/** The fingerprint of the key that sealed the database; undefined when nothing was sealed yet. */
export async function sealedFingerprint(sql: Sql): Promise<Buffer | undefined> {
  const [table] = await sql`select where to_regclass('plinth.master_key') is not null`;
  if (table === undefined) return undefined;
  const [known] = await sql<{ fingerprint: Buffer }[]>`select fingerprint from plinth.master_key`;
  return known?.fingerprint;
}
