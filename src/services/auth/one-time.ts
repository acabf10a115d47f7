import type { Sql } from '../../db/index.ts';
import type { Directory } from './directory.ts';
import { InvalidToken } from './errors.ts';
import { oneTimeStore, type OneTimePurpose } from './one-time.store.ts';
import { issueToken, readToken, type TokenHead } from './tokens.ts';

const kinds: Record<OneTimePurpose, { head: TokenHead; livesMs: number }> = {
  verify_email: { head: 'vrf', livesMs: 24 * 3_600_000 },
  reset_password: { head: 'rst', livesMs: 3_600_000 },
};

/** Makes a token for a message to the user's address. An older one of the purpose is void. */
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

/** Which tenant a presented token is of, and how it is found there. @throws Invalid where it can be none of ours. */
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
