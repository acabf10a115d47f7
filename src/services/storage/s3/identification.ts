import type { Database } from '../../../db/index.ts';
import type { Caller } from '../../../http/caller.ts';
import type { RawRequest } from '../../../http/raw-mounts.ts';
import type { Sealer } from '../../../lib/seal.ts';
import { credentialStore, type SigningCredential } from '../credentials/credentials.store.ts';
import { includesRight } from '../credentials/scopes.ts';
import { openedSecret } from '../credentials/secrets.ts';
import { s3Error } from './protocol/errors.ts';
import type { Right, Target } from './protocol/requests.ts';
import { type Claim, claimOf } from './signing/authorization.ts';
import { checkTime, type Verified, verify } from './signing/signature.ts';

/** Who signed a request. */
export interface Signer {
  readonly claim: Claim;
  readonly verified: Verified;
  readonly credential: SigningCredential;
}

/**
 * Finds out who signed a request, or throws. The access key is read from the database each time, so that one that is deleted is refused
 * at once by every process.
 */
export async function identified(
  { db, sealer }: { readonly db: Database; readonly sealer: Sealer },
  request: RawRequest,
  { signedPath, query }: Target,
): Promise<Signer> {
  const { method, headers, rawHeaders } = request;
  const claim = claimOf({ headers, query: query.pairs });
  checkTime(claim, Date.now());
  const credential = await request.turn(() => credentialStore(db.sql).findSigning(claim.accessKeyId));
  if (!credential) throw s3Error('InvalidAccessKeyId');
  const signed = { method, path: signedPath, query: query.pairs, rawHeaders };
  const verified = verify(claim, signed, openedSecret(sealer, credential));
  return { claim, verified, credential };
}

/** The signer as a caller of the platform, in the tenant and the app of the access key. */
export const callerOf = ({ tenant_id, app_id, access_key_id, scopes }: SigningCredential): Caller => ({
  tenant: tenant_id,
  app: app_id,
  actor: access_key_id,
  userId: null,
  subjectId: null,
  credential: { kind: 'own', id: access_key_id },
  session: null,
  scopes,
  confined: true,
});

/** A client may name the owner that it expects of a bucket, which is the tenant. */
export function checkOwner({ headers }: RawRequest, { tenant_id }: SigningCredential): void {
  for (const name of ['x-amz-expected-bucket-owner', 'x-amz-source-expected-bucket-owner'])
    if (headers[name] !== undefined && headers[name] !== tenant_id) throw s3Error('AccessDenied');
}

export function checkRight({ scopes }: SigningCredential, right: Right): void {
  if (!includesRight(scopes, `storage:${right}`))
    throw s3Error('AccessDenied', `The access key has no right to ${right}`);
}
