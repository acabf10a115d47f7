import type { ChallengeMethod } from '../../../../generated/auth/types.ts';
import type { Deps } from './deps.ts';
import { totpSecrets } from './enrolling.ts';
import { enrollmentStore } from './enrollments.store.ts';
import { recoveryHash } from './recovery-codes.ts';
import { recoveryCodeStore } from './recovery-codes.store.ts';
import { stepOfCode } from './totp.ts';
import type { Write } from '../directory/writes.ts';

/** Whether the code is valid for an authenticator or as a recovery code. A valid code is used up. */
export async function isCarriedCode(
  { sealer, changes }: Pick<Deps, 'sealer' | 'changes'>,
  { sql, tenant, secured }: Write,
  userId: string,
  method: ChallengeMethod,
  code: string,
): Promise<boolean> {
  if (method === 'recovery') {
    const used = await recoveryCodeStore(sql).consume(tenant, userId, recoveryHash(userId, code));
    if (used) secured({ userId, change: 'recovery_code_used' });
    return used;
  }
  const store = enrollmentStore(sql);
  const factors = await store.ofUser(tenant, userId);
  const factor = factors.find((known) => known.verified && known.method === method);
  if (!factor || factor.secret_box === null) return false;
  const step = stepOfCode(sealer.open(totpSecrets, tenant, factor.secret_box), code, changes.clock.now());
  return step !== undefined && (await store.useStep(tenant, userId, factor.id, step));
}
