import type {
  MfaEnroll,
  MfaEnrollment,
  MfaMethod,
  MfaVerification,
  NewMfaEnrollment,
} from '../../../../generated/auth/types.ts';
import { Conflict, Invalid, NotFound, Unauthenticated } from '../../../lib/errors.ts';
import { newId } from '../../../lib/ids.ts';
import { accountStore, type Account } from '../directory/accounts.store.ts';
import { attempt } from './trials.ts';
import { codeStore, type CodePlace } from './codes.store.ts';
import type { Deps } from './deps.ts';
import type { Visit } from '../directory/visit.ts';
import type { KnownApp } from '../directory/directory.ts';
import { enrollmentStore, type StoredEnrollment } from './enrollments.store.ts';
import { InvalidCredentials } from '../errors.ts';
import { maskedPhone } from '../text/masked-phones.ts';
import { newRecoveryCodes, recoveryHash } from './recovery-codes.ts';
import { recoveryCodeStore } from './recovery-codes.store.ts';
import { codeMac, textCode } from './text-codes.ts';
import { cleanPhone } from '../text/text-rules.ts';
import { newTotpSecret, provisioningUri, stepOfCode, totpSecretText } from './totp.ts';
import type { Author, Write } from '../directory/writes.ts';

/** The sealing purpose of authenticator secrets. */
export const totpSecrets = 'auth/totp/v1';

/** The user whose second factors an operation works on. */
export interface Owner {
  readonly app: KnownApp;
  readonly userId: string;
  readonly actor: string;
  /** The origin of the request. */
  readonly visit?: Author['visit'];
}

/** Runs a write about the user's factors, one at a time per user. @throws Unauthenticated if the user no longer exists */
const writeLocked = <T>(
  { write }: Deps,
  { app, userId, actor, visit }: Owner,
  run: (write: Write, account: Account) => Promise<T>,
): Promise<T> =>
  write({ tenant: app.tenant, app: app.id, actor, visit }, async (locked) => {
    const account = await accountStore(locked.sql).lock(app.tenant, app.id, userId);
    if (!account) throw Unauthenticated('unknown user');
    return run(locked, account);
  });

/** Sets up a factor that counts once it is verified. @throws Invalid, Conflict, RateLimited */
export async function enroll(
  deps: Deps,
  owner: Owner,
  wanted: MfaEnroll,
  { ip }: Pick<Visit, 'ip'>,
): Promise<NewMfaEnrollment> {
  const { method } = wanted;
  if (method !== 'sms' && wanted.phone !== undefined) throw Invalid('phone: only for sms');
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
      const code = await textCode(deps, write, app, { to: phone, kind: 'mfa_code', userId, ip });
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

/** The key of the code for an unverified phone: one per user, because a user has only one such phone. */
const codePlace = ({ tenant, id }: KnownApp, userId: string): CodePlace => ({
  tenant,
  app: id,
  purpose: 'phone_enrollment',
  subject: userId,
});

/** Proves that a factor works; from now on it counts. @throws Invalid, NotFound, Unauthenticated, RateLimited */
export async function verifyFactor(
  deps: Deps,
  owner: Owner,
  { method, code }: MfaVerification,
  visit: Visit,
): Promise<MfaEnrollment> {
  const { app, userId } = owner;
  // Wrong codes for an unverified factor do not keep the user from signing in.
  const claim = { app, identifier: `enrollment ${userId}`, account: { id: userId }, visit };
  const run = () =>
    writeLocked(deps, owner, async (write) => {
      const store = enrollmentStore(write.sql);
      const waiting = waitingOf(await store.ofUser(app.tenant, userId), method);
      const proof = await proofOf(deps, write, app, userId, waiting, code);
      // The failure is returned, not thrown, so that the count of the wrong code is committed.
      if (proof === undefined) return undefined;
      write.secured({ userId, change: 'factor_added' });
      write.emit('auth.mfa_enabled', userId, { user_id: userId, method: waiting.method });
      return store.verify(app.tenant, userId, waiting.id, proof.step);
    });
  const verified = await attempt(deps, claim, { forgets: true, run });
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
  { sealer, changes }: Deps,
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
  const step = stepOfCode(sealer.open(totpSecrets, app.tenant, secret_box), code, changes.clock.now());
  return step === undefined ? undefined : { step };
}

/** Removes factors; removing the last verified one also removes the recovery codes. @throws NotFound when there is none */
export const removeFactors = (deps: Deps, owner: Owner, method: MfaMethod | undefined): Promise<void> =>
  writeLocked(deps, owner, async ({ sql, tenant, emit, secured }) => {
    const { userId } = owner;
    const store = enrollmentStore(sql);
    const known = await store.ofUser(tenant, userId);
    const removed = known.filter((factor) => method === undefined || factor.method === method);
    if (removed.length === 0) throw NotFound('enrollment');
    const ids = removed.map(({ id }) => id);
    await store.delete(tenant, userId, ids);
    if (!known.some(({ id, verified }) => verified && !ids.includes(id)))
      await recoveryCodeStore(sql).replace(tenant, userId, []);
    for (const { verified, method: ended } of removed) {
      if (!verified) continue;
      secured({ userId, change: 'factor_removed' });
      emit('auth.mfa_disabled', userId, { user_id: userId, method: ended });
    }
  });

/** Replaces the recovery codes; the old ones are void at once. @throws NotFound if no factor is verified */
export const regenerateCodes = (deps: Deps, owner: Owner): Promise<string[]> =>
  writeLocked(deps, owner, async ({ sql, tenant, secured }) => {
    const { userId } = owner;
    const known = await enrollmentStore(sql).ofUser(tenant, userId);
    if (!known.some(({ verified }) => verified)) throw NotFound('enrollment');
    const codes = newRecoveryCodes();
    const hashes = codes.map((code) => recoveryHash(userId, code));
    await recoveryCodeStore(sql).replace(tenant, userId, hashes);
    secured({ userId, change: 'recovery_codes_replaced' });
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
