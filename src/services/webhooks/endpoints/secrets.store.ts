import type { Sql } from '../../../db/index.ts';
import { NotFound } from '../../../lib/errors.ts';
import type { SealedFor } from '../sealing.ts';

/** The most earlier secrets that sign besides the current one. */
const mostEarlier = 4;

/** Every statement about the secrets of endpoints. */
export const secretStore = (sql: Sql) => ({
  async insert({ tenant_id, id }: SealedFor, secretId: string, box: Buffer): Promise<void> {
    await sql`
      insert into webhooks.endpoint_secret (tenant_id, endpoint_id, id, box) values (${tenant_id}, ${id}, ${secretId}, ${box})`;
  },

  /** The current secret, sealed. */
  async current({ tenant_id, id }: SealedFor): Promise<Buffer> {
    const [secret] = await sql<{ box: Buffer }[]>`
      select box from webhooks.endpoint_secret where tenant_id = ${tenant_id} and endpoint_id = ${id} and valid_until is null`;
    if (!secret) throw NotFound('endpoint');
    return secret.box;
  },

  /** Lets the current secret sign for a while longer, and returns until when. The oldest of too many earlier ones no longer signs. */
  async retire({ tenant_id, id }: SealedFor, overlapMs: number): Promise<string> {
    const [{ valid_until }] = await sql<[{ valid_until: string }]>`
      with superfluous as (
        delete from webhooks.endpoint_secret
        where tenant_id = ${tenant_id} and endpoint_id = ${id} and id in (
          select id from webhooks.endpoint_secret
          where tenant_id = ${tenant_id} and endpoint_id = ${id} and valid_until is not null
          order by valid_until > now() desc, created_at desc, id desc offset ${mostEarlier - 1}
        )
      )
      update webhooks.endpoint_secret set valid_until = now() + ${overlapMs} * interval '1 millisecond'
      where tenant_id = ${tenant_id} and endpoint_id = ${id} and valid_until is null
      returning valid_until`;
    return valid_until;
  },

  /** Ends all secrets of the endpoint at once. */
  async deleteAll({ tenant_id, id }: SealedFor): Promise<void> {
    await sql`delete from webhooks.endpoint_secret where tenant_id = ${tenant_id} and endpoint_id = ${id}`;
  },
});
