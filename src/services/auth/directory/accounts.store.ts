import type { User } from '../../../../generated/auth/types.ts';
import type { Sql } from '../../../db/index.ts';
import { userColumns } from './users.store.ts';

/** The identifier by which a user names their account. With both, the email decides. */
export type Identifier = { readonly email: string } | { readonly username: string };

/** The part of an account that is needed to prove it. */
export interface Account {
  readonly id: string;
  readonly email: string | null;
  readonly username: string | null;
  readonly name: string | null;
  readonly email_verified: boolean;
  readonly banned: boolean;
  readonly password_hash: string | null;
}

/** Every statement about how accounts are proven: passwords, verified addresses, sign-ins. */
export const accountStore = (sql: Sql) => ({
  async find(tenant: string, app: string, identifier: Identifier): Promise<Account | undefined> {
    const [found] = await sql<Account[]>`
      select ${accountColumns(sql)}
      from auth.users
      where tenant_id = ${tenant} and app_id = ${app} and ${
        'email' in identifier
          ? sql`email = ${identifier.email}`
          : sql`lower(username) = ${identifier.username}`
      }`;
    return found;
  },

  async findById(tenant: string, app: string, id: string): Promise<Account | undefined> {
    const [found] = await sql<Account[]>`
      select ${accountColumns(sql)}
      from auth.users
      where tenant_id = ${tenant} and app_id = ${app} and id = ${id}`;
    return found;
  },

  /** Returns the account once concurrent changes have finished, locked against others until the end of the transaction. */
  async lock(tenant: string, app: string, id: string): Promise<Account | undefined> {
    const [found] = await sql<Account[]>`
      select ${accountColumns(sql)}
      from auth.users
      where tenant_id = ${tenant} and app_id = ${app} and id = ${id}
      for no key update`;
    return found;
  },

  /** Returns the id of the user's device that holds the token. */
  async deviceOf(tenant: string, userId: string, tokenHash: Buffer): Promise<string | undefined> {
    const [device] = await sql<{ id: string }[]>`
      select id from auth.devices
      where tenant_id = ${tenant} and user_id = ${userId} and token_hash = ${tokenHash}`;
    return device?.id;
  },

  /** Returns the id of the user's device that holds the token and is currently trusted. */
  async trustedDeviceOf(tenant: string, userId: string, tokenHash: Buffer): Promise<string | undefined> {
    const [device] = await sql<{ id: string }[]>`
      select id from auth.devices
      where tenant_id = ${tenant} and user_id = ${userId} and token_hash = ${tokenHash} and trusted_until > now()`;
    return device?.id;
  },

  /** Records a sign-in. `newHash` is the hash of the same password at another cost. */
  async signedIn(tenant: string, app: string, id: string, newHash: string | undefined): Promise<User> {
    const [user] = await sql<[User]>`
      update auth.users
      set last_signin_at = now(), password_hash = coalesce(${newHash ?? null}, password_hash)
      where tenant_id = ${tenant} and app_id = ${app} and id = ${id}
      returning ${userColumns(sql)}`;
    return user;
  },

  async replacePassword(tenant: string, app: string, id: string, hash: string): Promise<void> {
    await sql`
      update auth.users
      set password_hash = ${hash}, password_changed_at = now()
      where tenant_id = ${tenant} and app_id = ${app} and id = ${id}`;
  },

  /** Records that the address belongs to the user. Returns false if the account is gone or has another address now. */
  async verifyEmail(tenant: string, app: string, id: string, email: string): Promise<boolean> {
    const { count } = await sql`
      update auth.users
      set email_verified = true, updated_at = case when email_verified then updated_at else now() end
      where tenant_id = ${tenant} and app_id = ${app} and id = ${id} and email = ${email}`;
    return count > 0;
  },
});

const accountColumns = (sql: Sql) => sql`
  users.id, users.email, users.username, users.name, users.email_verified, users.password_hash,
  (users.banned and (users.ban_expires_at is null or users.ban_expires_at > now())) as banned`;
