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

/** How long a request is claimed, in seconds: it takes a few statements. */
const claimSeconds = 15;

/** Every statement about requests for messages. */
export const requestStore = (sql: Sql) => ({
  async insert(request: AddressRequest): Promise<void> {
    await sql`insert into auth.requests ${sql(request)}`;
  },

  /** Claims the oldest ones. One that fails is due again when its claim ends, and does not block the others meanwhile. */
  async claim(count: number): Promise<AddressRequest[]> {
    return await sql<AddressRequest[]>`
      update auth.requests
      set claimed_until = now() + ${claimSeconds} * interval '1 second'
      from (
        select tenant_id, id from auth.requests
        where claimed_until is null or claimed_until <= now()
        order by created_at, id
        limit ${count}
        for update skip locked
      ) as due
      where requests.tenant_id = due.tenant_id and requests.id = due.id
      returning requests.id, requests.tenant_id, app_id, kind, email, network`;
  },

  /** Returns false if another process has taken it. */
  async take(tenant: string, id: string): Promise<boolean> {
    const { count } = await sql`delete from auth.requests where tenant_id = ${tenant} and id = ${id}`;
    return count > 0;
  },
});
