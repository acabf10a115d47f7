import type { S3Credential } from '../../../../generated/storage/types.ts';
import type { Sql } from '../../../db/index.ts';
import { NotFound } from '../../../lib/errors.ts';
import { mostCredentials, TooManyCredentials } from './limits.ts';

/** A credential to store, with its sealed secret. */
export interface NewCredential extends Pick<
  S3Credential,
  'access_key_id' | 'app_id' | 'scopes' | 'created_by'
> {
  readonly secret: Uint8Array;
  readonly bucket_id: string | null;
}

/** What is needed to verify a signature, and who the signer is then. */
export interface SigningCredential {
  readonly access_key_id: string;
  readonly tenant_id: string;
  readonly app_id: string;
  readonly scopes: S3Credential['scopes'];
  readonly bucket_id: string | null;
  readonly secret: Uint8Array;
}

export type SealedCredential = Pick<SigningCredential, 'tenant_id' | 'access_key_id' | 'secret'>;

/** Every statement about the access keys of the S3 interface. */
export const credentialStore = (sql: Sql) => ({
  /** Creates one, in a place of the tenant's: the lock keeps others from taking the same one until the transaction ends. */
  async create(tenant: string, credential: NewCredential): Promise<S3Credential> {
    const { access_key_id, app_id, secret, scopes, bucket_id, created_by } = credential;
    await sql`
      insert into storage.usage as existing (tenant_id) values (${tenant})
      on conflict on constraint usage_pkey do update set buckets = existing.buckets`;
    const [created] = await sql<[S3Credential?]>`
      with created as (
        insert into storage.s3_credentials (tenant_id, access_key_id, app_id, secret, scopes, bucket_id, created_by)
        select ${tenant}, ${access_key_id}, ${app_id}, ${secret}, ${sql.array(scopes)}::text[], ${bucket_id}, ${created_by}
        where (select count(*) from storage.s3_credentials where tenant_id = ${tenant}) < ${mostCredentials}
        returning *
      ) select ${shown(sql)} from created as credentials ${itsBucket(sql)}`;
    if (!created) throw TooManyCredentials();
    return created;
  },

  /** Some of the secrets that the master key with this id sealed. */
  async sealedBy(keyId: Buffer, most: number): Promise<SealedCredential[]> {
    return await sql<SealedCredential[]>`
      select tenant_id, access_key_id, secret from storage.s3_credentials
      where substring(secret from 2 for 4) = ${keyId} limit ${most}`;
  },

  /** Replaces sealed secrets. */
  async reseal(changes: readonly (SealedCredential & { readonly sealed: Buffer })[]): Promise<void> {
    await sql`
      update storage.s3_credentials as kept set secret = decode(given.sealed, 'base64')
      from unnest(
        ${changes.map(({ tenant_id }) => tenant_id)}::text[], ${changes.map(({ access_key_id }) => access_key_id)}::text[],
        ${changes.map(({ sealed }) => sealed.toString('base64'))}::text[]
      ) as given (tenant_id, access_key_id, sealed)
      where kept.tenant_id = given.tenant_id and kept.access_key_id = given.access_key_id`;
  },

  /** Lists credentials by id, one more than `limit` when more follow. */
  async list(
    tenant: string,
    { after, limit }: { after: string | undefined; limit: number },
  ): Promise<S3Credential[]> {
    return await sql<S3Credential[]>`
      select ${shown(sql)} from storage.s3_credentials as credentials ${itsBucket(sql)}
      where credentials.tenant_id = ${tenant} ${after === undefined ? sql`` : sql`and access_key_id > ${after}`}
      order by access_key_id limit ${limit + 1}`;
  },

  async delete(tenant: string, accessKeyId: string): Promise<void> {
    const { count } = await sql`
      delete from storage.s3_credentials where tenant_id = ${tenant} and access_key_id = ${accessKeyId}`;
    if (count === 0) throw NotFound('access key');
  },

  /** The credential that a request names, in whichever tenant: the signature proves who signs. */
  async findSigning(accessKeyId: string): Promise<SigningCredential | undefined> {
    const [found] = await sql<[SigningCredential?]>`
      select access_key_id, tenant_id, app_id, scopes, bucket_id, secret from storage.s3_credentials
      where access_key_id = ${accessKeyId}`;
    return found;
  },
});

const shown = (sql: Sql) => sql`
  credentials.access_key_id, credentials.tenant_id, credentials.app_id, credentials.scopes,
  coalesce(buckets.name, credentials.bucket_id) as bucket, credentials.created_by, credentials.created_at`;

const itsBucket = (sql: Sql) => sql`
  left join storage.buckets on buckets.tenant_id = credentials.tenant_id and buckets.id = credentials.bucket_id`;
