import { challengeStore } from './challenges.store.ts';
import type { KnownApp } from '../directory/directory.ts';
import { enrollmentStore } from '../factors/enrollments.store.ts';
import { TextsNotConfigured, TooManyAttempts } from '../errors.ts';
import { codeMac, tryTextCode, type TextDeps } from '../factors/text-codes.ts';
import type { Write } from '../directory/writes.ts';

/** A challenge whose user gets a code. */
export interface TextedChallenge {
  readonly userId: string;
  readonly hash: Buffer;
  /** The IP address that the code is requested from. */
  readonly ip: string | null;
}

/** Texts a code that answers the challenge. Returns when it expires. @throws Invalid, RateLimited */
export async function textChallenge(
  deps: TextDeps,
  write: Write,
  app: KnownApp,
  challenge: TextedChallenge,
): Promise<string> {
  const sent = await tryTextChallenge(deps, write, app, challenge);
  if (sent === undefined) throw TextsNotConfigured();
  if ('wait' in sent) throw TooManyAttempts(sent.wait);
  return sent.expires_at;
}

/** Texts a code if the number may receive one now: otherwise the sign-in continues without, and its user requests one later. */
export async function tryTextChallenge(
  deps: TextDeps,
  write: Write,
  app: KnownApp,
  { userId, hash, ip }: TextedChallenge,
): Promise<{ expires_at: string } | { wait: number } | undefined> {
  if (!deps.messages.canText) return undefined;
  const { sql, tenant } = write;
  const factors = await enrollmentStore(sql).ofUser(tenant, userId);
  const to = factors.find(({ method, verified }) => verified && method === 'sms')!.phone!;
  const sent = await tryTextCode(deps, write, app, { to, kind: 'mfa_code', userId, ip });
  if ('wait' in sent) return sent;
  const mac = codeMac(deps.sealer, tenant, hash.toString('hex'), sent.code);
  return { expires_at: await challengeStore(sql).setCode(tenant, hash, mac) };
}
