import { challengeStore } from './challenges.store.ts';
import type { KnownApp } from './directory.ts';
import { enrollmentStore } from './enrollments.store.ts';
import { TextsNotConfigured, TooManyAttempts } from './errors.ts';
import { codeMac, tryTextCode, type TextDeps } from './text-codes.ts';
import type { Write } from './writes.ts';

/** Texts a code that answers the challenge. Answers until when it is good. @throws Invalid, RateLimited */
export async function textChallenge(
  deps: TextDeps,
  write: Write,
  app: KnownApp,
  userId: string,
  hash: Buffer,
): Promise<string> {
  const sent = await tryTextChallenge(deps, write, app, userId, hash);
  if (sent === undefined) throw TextsNotConfigured();
  if ('wait' in sent) throw TooManyAttempts(sent.wait);
  return sent.expires_at;
}

/** Texts a code if that is possible and one may go to the number now: a sign-in goes on without, and its user asks for one later. */
export async function tryTextChallenge(
  deps: TextDeps,
  write: Write,
  app: KnownApp,
  userId: string,
  hash: Buffer,
): Promise<{ expires_at: string } | { wait: number } | undefined> {
  if (!deps.messages.canText) return undefined;
  const { sql, tenant } = write;
  const factors = await enrollmentStore(sql).ofUser(tenant, userId);
  const to = factors.find(({ method, verified }) => verified && method === 'sms')!.phone!;
  const sent = await tryTextCode(deps, write, app, { to, kind: 'mfa_code', userId });
  if ('wait' in sent) return sent;
  const mac = codeMac(deps.sealer, tenant, hash.toString('hex'), sent.code);
  return { expires_at: await challengeStore(sql).setCode(tenant, hash, mac) };
}
