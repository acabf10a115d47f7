import type {
  MfaEnroll,
  MfaEnrollment,
  MfaMethod,
  MfaVerification,
  NewMfaEnrollment,
} from '../../../generated/auth/types.ts';
import { Conflict, Invalid, NotFound, Unauthenticated } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { accountStore, type Account } from './accounts.store.ts';
import { codeStore, type CodePlace } from './codes.store.ts';
import type { Deps } from './deps.ts';
import type { KnownApp } from './directory.ts';
import { enrollmentStore, type StoredEnrollment } from './enrollments.store.ts';
import { InvalidCredentials } from './errors.ts';
import { maskedPhone } from './masked-phones.ts';
import { newRecoveryCodes, recoveryHash } from './recovery-codes.ts';
import { recoveryCodeStore } from './recovery-codes.store.ts';
import { codeMac, textCode } from './text-codes.ts';
import { cleanPhone } from './text-rules.ts';
import { newTotpSecret, provisioningUri, stepOfCode, totpSecretText } from './totp.ts';
import type { Write } from './writes.ts';

/** What the secrets of authenticator apps are sealed for. */
export const totpSecrets = 'auth/totp/v1';

/** Whose second factors are meant. */
export interface Owner {
  readonly app: KnownApp;
  readonly userId: string;
  readonly actor: string;
}

/** Runs a write about the user's factors; no other one of them runs meanwhile. @throws Unauthenticated where they are gone. */
const writeLocked = <T>(
  { write }: Deps,
  { app, userId, actor }: Owner,
  run: (write: Write, account: Account) => Promise<T>,
): Promise<T> =>
  write({ tenant: app.tenant, app: app.id, actor }, async (locked) => {
    const account = await accountStore(locked.sql).lock(app.tenant, app.id, userId);
    if (!account) throw Unauthenticated('unknown user');
    return run(locked, account);
  });

/** Sets up a factor that counts once it is verified. @throws Invalid, Conflict, RateLimited */
export async function enroll(deps: Deps, owner: Owner, wanted: MfaEnroll): Promise<NewMfaEnrollment> {
  const { method } = wanted;
  const phone = method === 'sms' ? phoneOf(wanted) : null;
  const secret = method === 'totp' ? newTotpSecret() : null;
  const codes = newRecoveryCodes();
  const { app, userId } = owner;
  return writeLocked(deps, owner, async (write, account) => {
    const store = enrollmentStore(write.sql);
    const known = await store.ofUser(app.tenant, userId);
    if (known.some((factor) => factor.method === method && factor.verified))
      throw Conflict('factor already verified');
    const enrollment = await store.replaceUnverified({
      id: newId('mfa'),
      tenant_id: app.tenant,
      user_id: userId,
      method,
      phone,
      secret_box: secret && deps.sealer.seal(totpSecrets, app.tenant, secret),
      pending_codes: codes.map((code) => recoveryHash(userId, code)),
    });
    if (phone !== null) {
      const code = await textCode(deps, write, app, { to: phone, kind: 'mfa_code', userId });
      const place = codePlace(app, userId);
      await codeStore(write.sql).replace(place, codeMac(deps.sealer, app.tenant, enrollment.id, code));
    }
    const name = account.email ?? account.username ?? userId;
    return {
      ...shown(enrollment),
      provisioning_uri: secret && provisioningUri(secret, deps.settings.totpName, name),
      secret: secret && totpSecretText(secret),
      recovery_codes: codes,
    };
  });
}

function phoneOf({ phone }: MfaEnroll): string {
  if (phone === undefined) throw Invalid('phone: required for sms');
  return cleanPhone(phone);
}

/** Where the code of a phone that waits is kept: one for each user, as is the phone. */
const codePlace = ({ tenant, id }: KnownApp, userId: string): CodePlace => ({
  tenant,
  app: id,
  purpose: 'phone_enrollment',
  subject: userId,
});

/** Proves that a factor works; from now on it counts. @throws Invalid, NotFound, Unauthenticated */
export async function verifyFactor(
  deps: Deps,
  owner: Owner,
  { method, code }: MfaVerification,
): Promise<MfaEnrollment> {
  const { app, userId } = owner;
  const verified = await writeLocked(deps, owner, async (write) => {
    const store = enrollmentStore(write.sql);
    const waiting = waitingOf(await store.ofUser(app.tenant, userId), method);
    const proof = await proofOf(deps, write, app, userId, waiting, code);
    // Returned and not thrown, because a wrong code is to be counted.
    if (proof === undefined) return undefined;
    write.emit('auth.mfa_enabled', userId, { user_id: userId, method: waiting.method });
    return store.verify(app.tenant, userId, waiting.id, proof.step);
  });
  if (!verified) throw InvalidCredentials();
  return shown(verified);
}

function waitingOf(factors: readonly StoredEnrollment[], method: MfaMethod | undefined): StoredEnrollment {
  const waiting = factors.filter(
    (factor) => !factor.verified && (method === undefined || factor.method === method),
  );
  const [first, second] = waiting;
  if (!first) throw NotFound('enrollment');
  if (second) throw Invalid('method: required, because two factors wait for their verification');
  return first;
}

async function proofOf(
  { sealer }: Deps,
  { sql }: Write,
  app: KnownApp,
  userId: string,
  { id, secret_box }: StoredEnrollment,
  code: string,
): Promise<{ step: number | null } | undefined> {
  if (secret_box === null) {
    const mac = codeMac(sealer, app.tenant, id, code);
    return (await codeStore(sql).consume(codePlace(app, userId), mac)) ? { step: null } : undefined;
  }
  const step = stepOfCode(sealer.open(totpSecrets, app.tenant, secret_box), code, Date.now());
  return step === undefined ? undefined : { step };
}

/** Removes factors; with the last verified one the recovery codes go. @throws NotFound where there is none. */
export const removeFactors = (deps: Deps, owner: Owner, method: MfaMethod | undefined): Promise<void> =>
  writeLocked(deps, owner, async ({ sql, tenant, emit }) => {
    const { userId } = owner;
    const store = enrollmentStore(sql);
    const known = await store.ofUser(tenant, userId);
    const removed = known.filter((factor) => method === undefined || factor.method === method);
    if (removed.length === 0) throw NotFound('enrollment');
    const ids = removed.map(({ id }) => id);
    await store.delete(tenant, userId, ids);
    if (!known.some(({ id, verified }) => verified && !ids.includes(id)))
      await recoveryCodeStore(sql).replace(tenant, userId, []);
    for (const factor of removed)
      if (factor.verified) emit('auth.mfa_disabled', userId, { user_id: userId, method: factor.method });
  });

/** Replaces the recovery codes; the old ones are void at once. @throws NotFound where no factor is verified. */
export const regenerateCodes = (deps: Deps, owner: Owner): Promise<string[]> =>
  writeLocked(deps, owner, async ({ sql, tenant }) => {
    const { userId } = owner;
    const known = await enrollmentStore(sql).ofUser(tenant, userId);
    if (!known.some(({ verified }) => verified)) throw NotFound('enrollment');
    const codes = newRecoveryCodes();
    const hashes = codes.map((code) => recoveryHash(userId, code));
    await recoveryCodeStore(sql).replace(tenant, userId, hashes);
    return codes;
  });

/** A factor as its owner sees it. */
export const shown = ({
  id,
  method,
  verified,
  phone,
  created_at,
  last_used_at,
}: StoredEnrollment): MfaEnrollment => ({
  id,
  method,
  verified,
  phone: phone === null ? null : maskedPhone(phone),
  created_at,
  last_used_at,
});
