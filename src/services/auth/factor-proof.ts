import type { ChallengeMethod } from '../../../generated/auth/types.ts';
import type { Deps } from './deps.ts';
import { totpSecrets } from './enrolling.ts';
import { enrollmentStore } from './enrollments.store.ts';
import { recoveryHash } from './recovery-codes.ts';
import { recoveryCodeStore } from './recovery-codes.store.ts';
import { stepOfCode } from './totp.ts';
import type { Write } from './writes.ts';

/** Whether the code is one that the user carries, of an authenticator or a recovery code. A good one is used up. */
export async function isCarriedCode(
  { sealer }: Pick<Deps, 'sealer'>,
  { sql, tenant }: Write,
  userId: string,
  method: ChallengeMethod,
  code: string,
): Promise<boolean> {
  if (method === 'recovery')
    return recoveryCodeStore(sql).consume(tenant, userId, recoveryHash(userId, code));
  const store = enrollmentStore(sql);
  const factors = await store.ofUser(tenant, userId);
  const factor = factors.find((known) => known.verified && known.method === method);
  if (!factor || factor.secret_box === null) return false;
  const step = stepOfCode(sealer.open(totpSecrets, tenant, factor.secret_box), code, Date.now());
  return step !== undefined && (await store.useStep(tenant, userId, factor.id, step));
}
