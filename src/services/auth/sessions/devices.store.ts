import type { Device } from '../../../../generated/auth/types.ts';
import type { Sql } from '../../../db/index.ts';
import { NotFound } from '../../../lib/errors.ts';

/** The row of a device that signs in for the first time. */
export interface NewDevice extends Pick<Device, 'id' | 'name' | 'type' | 'browser' | 'os' | 'ip_address'> {
  readonly tenant_id: string;
  readonly user_id: string;
  readonly user_agent: string;
  readonly token_hash: Buffer;
}

/** Every statement about devices. */
export const deviceStore = (sql: Sql) => ({
  async insert(device: NewDevice): Promise<Device> {
    const [inserted] = await sql<[Device]>`
      insert into auth.devices ${sql(device)}
      returning ${deviceColumns(sql)}`;
    return inserted;
  },

  /** Whether the user signed in before, on a known device or in a session that still has a row. */
  async anyBefore(tenant: string, userId: string): Promise<boolean> {
    const [{ known }] = await sql<[{ known: boolean }]>`
      select exists (
        select from auth.devices where tenant_id = ${tenant} and user_id = ${userId}
      ) or exists (
        select from auth.sessions where tenant_id = ${tenant} and user_id = ${userId} and kind <> 'impersonation'
      ) as known`;
    return known;
  },

  /** Returns the user's device that holds the token, updated as just seen. */
  async seen(
    tenant: string,
    userId: string,
    tokenHash: Buffer,
    ip: string | null,
  ): Promise<Device | undefined> {
    const [device] = await sql<Device[]>`
      update auth.devices
      set last_seen_at = now(), ip_address = ${ip}
      where tenant_id = ${tenant} and user_id = ${userId} and token_hash = ${tokenHash}
      returning ${deviceColumns(sql)}`;
    return device;
  },

  /** Returns the user's most recently seen device with the same User-Agent, for the list only: it proves nothing. */
  async similar(
    tenant: string,
    userId: string,
    userAgent: string,
    ip: string | null,
  ): Promise<Device | undefined> {
    const [device] = await sql<Device[]>`
      update auth.devices
      set last_seen_at = now(), ip_address = ${ip}
      where tenant_id = ${tenant} and id = (
        select id from auth.devices
        where tenant_id = ${tenant} and user_id = ${userId} and user_agent = ${userAgent}
        order by last_seen_at desc, id desc
        limit 1
      )
      returning ${deviceColumns(sql)}`;
    return device;
  },

  /** The user's devices, most recently seen first. */
  async list(tenant: string, userId: string, limit: number): Promise<Device[]> {
    return await sql<Device[]>`
      select ${deviceColumns(sql)}
      from auth.devices
      where tenant_id = ${tenant} and user_id = ${userId}
      order by last_seen_at desc, id desc
      limit ${limit}`;
  },

  async get(tenant: string, userId: string, id: string): Promise<Device> {
    const [device] = await sql<Device[]>`
      select ${deviceColumns(sql)}
      from auth.devices
      where tenant_id = ${tenant} and user_id = ${userId} and id = ${id}`;
    if (!device) throw NotFound('device');
    return device;
  },

  /** Deletes the device. After this, nobody signs in on it. */
  async delete(tenant: string, userId: string, id: string): Promise<void> {
    const { count } = await sql`
      delete from auth.devices where tenant_id = ${tenant} and user_id = ${userId} and id = ${id}`;
    if (count === 0) throw NotFound('device');
  },

  /** Trusts the device for this many milliseconds from now; null ends the trust. */
  async trust(tenant: string, userId: string, id: string, forMs: number | null): Promise<Device> {
    const [device] = await sql<Device[]>`
      update auth.devices
      set trusted_until = now() + ${forMs}::float8 * interval '1 millisecond'
      where tenant_id = ${tenant} and user_id = ${userId} and id = ${id}
      returning ${deviceColumns(sql)}`;
    if (!device) throw NotFound('device');
    return device;
  },
});

/** Expired trust does not count. */
export const deviceColumns = (sql: Sql) => sql`
  devices.id, devices.name, devices.type, devices.browser, devices.os, devices.ip_address,
  coalesce(devices.trusted_until > now(), false) as trusted,
  case when devices.trusted_until > now() then devices.trusted_until end as trusted_until,
  devices.last_seen_at, devices.created_at`;
