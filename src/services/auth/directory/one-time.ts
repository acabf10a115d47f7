import type { Sql } from '../../../db/index.ts';
import type { Directory } from './directory.ts';
import { InvalidToken } from '../errors.ts';
import { oneTimeStore, type OneTimePurpose } from './one-time.store.ts';
import { issueToken, readToken, type TokenHead } from './tokens.ts';

const kinds: Record<OneTimePurpose, { head: TokenHead; livesMs: number }> = {
  verify_email: { head: 'vrf', livesMs: 24 * 3_600_000 },
  reset_password: { head: 'rst', livesMs: 3_600_000 },
};

/** Issues a token for a message to the user's address and voids any older one for the purpose. */
export async function issueOneTime(
  { sql, tenant, app }: { sql: Sql; tenant: string; app: string },
  tag: string,
  purpose: OneTimePurpose,
  userId: string,
  email: string,
): Promise<string> {
  const { head, livesMs } = kinds[purpose];
  const { token, hash } = issueToken(head, tag);
  await oneTimeStore(sql).replace(tenant, purpose, hash, { app_id: app, subject: userId, email }, livesMs);
  return token;
}

/** Returns the tenant of a presented token and its lookup hash. @throws Invalid if it cannot be one of our tokens */
export async function presentedOneTime(
  directory: Directory,
  purpose: OneTimePurpose,
  token: string,
): Promise<{ tenant: string; tag: string; hash: Buffer }> {
  const presented = readToken(kinds[purpose].head, token);
  const tenant = presented && (await directory.tenantOf(presented.tag));
  if (!presented || tenant === undefined) throw InvalidToken();
  return { tenant, tag: presented.tag, hash: presented.hash };
}
