import type { Sql } from '../../../db/index.ts';
import type { SealedFor } from '../sealing.ts';

/** A sealed value and where it is: `secret_id` is null for the headers of an endpoint. */
export interface Sealed extends SealedFor {
  readonly secret_id: string | null;
  readonly box: Buffer;
}

/** Every statement about values that the previous master key sealed. */
export const sealStore = (sql: Sql) => ({
  /** Some of the values that the key with this id sealed. */
  async sealedBy(keyId: Buffer, most: number): Promise<Sealed[]> {
    return await sql<Sealed[]>`
      select tenant_id, endpoint_id as id, id as secret_id, box from webhooks.endpoint_secret where substring(box from 2 for 4) = ${keyId}
      union all
      select tenant_id, id, null, sealed_headers from webhooks.endpoint where substring(sealed_headers from 2 for 4) = ${keyId}
      limit ${most}`;
  },

  /** Replaces sealed values; one that has changed meanwhile stays as it is. */
  async replace(changes: readonly (Sealed & { readonly sealed: Buffer })[]): Promise<void> {
    const column = (of: (change: (typeof changes)[number]) => string | null) => changes.map(of);
    await sql`
      with given as materialized (
        select tenant_id, endpoint_id, secret_id, decode(box, 'base64') as box, decode(sealed, 'base64') as sealed
        from unnest(
          ${column(({ tenant_id }) => tenant_id)}::text[], ${column(({ id }) => id)}::text[],
          ${column(({ secret_id }) => secret_id)}::text[], ${column(({ box }) => Buffer.from(box).toString('base64'))}::text[],
          ${column(({ sealed }) => sealed.toString('base64'))}::text[]
        ) as given(tenant_id, endpoint_id, secret_id, box, sealed)
      ),
      headers as (
        update webhooks.endpoint set sealed_headers = given.sealed from given
        where given.secret_id is null and endpoint.tenant_id = given.tenant_id and endpoint.id = given.endpoint_id
          and sealed_headers = given.box
      )
      update webhooks.endpoint_secret as kept set box = given.sealed from given
      where kept.tenant_id = given.tenant_id and kept.endpoint_id = given.endpoint_id and kept.id = given.secret_id
        and kept.box = given.box`;
  },
});
