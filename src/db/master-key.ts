import type { Sealer } from '../lib/seal.ts';
import type { Sql } from './sql.ts';

/** The server has another master key than the one that sealed the database. The message is a sentence for the operator. */
export class MasterKeyError extends Error {
  override readonly name = 'MasterKeyError';
}

/**
 * Holds the master key against the one that the database was sealed with: the first server notes its own, and one that knows it as
 * the previous key notes its new one. Throws a `MasterKeyError` for any other: what it sealed nobody else could read, nor it what is
 * there.
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
  throw new MasterKeyError(
    'the database was sealed with another master key: give every server the same PLINTH_MASTER_KEY, and the key before it as PLINTH_MASTER_KEY_PREVIOUS when it is replaced',
  );
}
