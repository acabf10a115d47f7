import type { User } from '../../../../generated/auth/types.ts';
import { constrained } from '../../../db/constraints.ts';
import type { Sql } from '../../../db/index.ts';
import { followsPrevious, onePage, type Window } from '../../../db/lists.ts';
import { NotFound } from '../../../lib/errors.ts';
import { constraints } from '../errors.ts';

/** The row of a new account. */
export interface NewUser extends Pick<
  User,
  'id' | 'app_id' | 'email' | 'username' | 'name' | 'image' | 'email_verified' | 'phone' | 'metadata'
> {
  readonly tenant_id: string;
  readonly phone_verified: boolean;
  readonly password_hash: string | null;
}

export interface UserFilter {
  readonly email?: string | undefined;
  /** A prefix of the email, the username or the name, case-insensitive. */
  readonly search?: string | undefined;
  readonly banned?: boolean | undefined;
}

/** The members that an update of an account may change. */
export type ChangeableMember = 'email' | 'email_verified' | 'username' | 'name' | 'image' | 'metadata';

/** Every statement about accounts. */
export const userStore = (sql: Sql) => ({
  async insert(user: NewUser): Promise<User> {
    const [inserted] = await constrained(
      constraints,
      sql<[User]>`
        insert into auth.users (
          id, tenant_id, app_id, email, username, name, image, email_verified, phone, phone_verified, password_hash,
          password_changed_at, metadata
        )
        values (
          ${user.id}, ${user.tenant_id}, ${user.app_id}, ${user.email}, ${user.username}, ${user.name}, ${user.image},
          ${user.email_verified}, ${user.phone}, ${user.phone_verified}, ${user.password_hash},
          case when ${user.password_hash}::text is null then null else now() end, ${user.metadata}
        )
        returning ${userColumns(sql)}`,
    );
    return inserted;
  },

  async get(tenant: string, app: string, id: string): Promise<User> {
    const [user] = await sql<User[]>`
      select ${userColumns(sql)}
      from auth.users
      where tenant_id = ${tenant} and app_id = ${app} and id = ${id}`;
    if (!user) throw NotFound('user');
    return user;
  },

  /** Returns the user, locked against other changes and sign-ins until the end of the transaction. */
  async lock(tenant: string, app: string, id: string): Promise<User> {
    await sql`select from auth.users where tenant_id = ${tenant} and app_id = ${app} and id = ${id} for update`;
    return this.get(tenant, app, id);
  },

  /** Lists the newest first; returns one more than `limit` when more follow. */
  async list(
    tenant: string,
    app: string,
    { email, search, banned }: UserFilter,
    window: Window,
  ): Promise<User[]> {
    return await sql<User[]>`
      select ${userColumns(sql)}
      from auth.users
      where tenant_id = ${tenant} and app_id = ${app}
        ${email === undefined ? sql`` : sql`and email = ${email}`}
        ${search === undefined ? sql`` : sql`and ${beginsWith(sql, search)}`}
        ${banned === undefined ? sql`` : sql`and ${isBanned(sql)} = ${banned}`}
        ${followsPrevious(sql, window)}
      ${onePage(sql, window)}`;
  },

  async update(tenant: string, user: Pick<User, 'id' | 'app_id' | ChangeableMember>): Promise<User> {
    const [updated] = await constrained(
      constraints,
      sql<[User]>`
        update auth.users
        set
          email = ${user.email}, email_verified = ${user.email_verified}, username = ${user.username},
          name = ${user.name}, image = ${user.image}, metadata = ${user.metadata}, updated_at = now()
        where tenant_id = ${tenant} and app_id = ${user.app_id} and id = ${user.id}
        returning ${userColumns(sql)}`,
    );
    return updated;
  },

  /** Bans the user, until `ban_expires_at` if it is given. */
  async ban(
    tenant: string,
    { id, ban_reason, ban_expires_at }: Pick<User, 'id' | 'ban_reason' | 'ban_expires_at'>,
  ): Promise<User> {
    const [banned] = await sql<[User]>`
      update auth.users
      set banned = true, ban_reason = ${ban_reason}, ban_expires_at = ${ban_expires_at}, updated_at = now()
      where tenant_id = ${tenant} and id = ${id}
      returning ${userColumns(sql)}`;
    return banned;
  },

  async unban(tenant: string, id: string): Promise<User> {
    const [unbanned] = await sql<[User]>`
      update auth.users
      set banned = false, ban_reason = null, ban_expires_at = null, updated_at = now()
      where tenant_id = ${tenant} and id = ${id}
      returning ${userColumns(sql)}`;
    return unbanned;
  },

  /** Checks that the user belongs to the app, and prevents their removal until the end of the transaction. */
  async hold(tenant: string, app: string, id: string): Promise<void> {
    const [found] = await sql`
      select from auth.users
      where tenant_id = ${tenant} and app_id = ${app} and id = ${id}
      for key share`;
    if (!found) throw NotFound('user');
  },
});

/** A ban that has expired does not count. */
export const userColumns = (sql: Sql) => sql`
  users.id, users.app_id, users.email, users.username, users.name, users.image, users.email_verified, users.phone,
  users.phone_verified, ${isBanned(sql)} as banned,
  case when ${isBanned(sql)} then users.ban_reason end as ban_reason,
  case when ${isBanned(sql)} then users.ban_expires_at end as ban_expires_at,
  users.last_signin_at, users.metadata, users.created_at, users.updated_at`;

const isBanned = (sql: Sql) =>
  sql`(users.banned and (users.ban_expires_at is null or users.ban_expires_at > now()))`;

/** Three conditions on three indexes, each of which begins with the tenant and the app. */
function beginsWith(sql: Sql, text: string) {
  const pattern = `${text.replaceAll(/[\\%_]/g, '\\$&')}%`;
  return sql`(
    email like lower(${pattern}) or lower(username) like lower(${pattern}) or lower(name) like lower(${pattern})
  )`;
}
