import type { Sql } from '../../../db/index.ts';
import type { OneTimePurpose } from '../directory/one-time.store.ts';

/** A request for a message to an address, which may belong to nobody. */
export interface AddressRequest {
  readonly id: string;
  readonly tenant_id: string;
  readonly app_id: string;
  readonly kind: OneTimePurpose;
  readonly email: string;
  /** The network that the request came from; null when unknown. */
  readonly network: string | null;
}

/** Every statement about requests for messages. */
export const requestStore = (sql: Sql) => ({
  async insert(request: AddressRequest): Promise<void> {
    await sql`insert into auth.requests ${sql(request)}`;
  },

  async oldest(count: number): Promise<AddressRequest[]> {
    return await sql<AddressRequest[]>`
      select id, tenant_id, app_id, kind, email, network
      from auth.requests
      order by created_at, id
      limit ${count}`;
  },

  /** Returns false if another process has taken it. */
  async take(tenant: string, id: string): Promise<boolean> {
    const { count } = await sql`delete from auth.requests where tenant_id = ${tenant} and id = ${id}`;
    return count > 0;
  },
});
