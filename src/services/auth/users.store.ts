import type { User } from '../../../generated/auth/types.ts';
import { constrained } from '../../db/constraints.ts';
import type { Sql } from '../../db/index.ts';
import { NotFound } from '../../lib/errors.ts';
import { constraints } from './errors.ts';

/** What a new account is stored with. */
export interface NewUser extends Pick<
  User,
  'id' | 'app_id' | 'email' | 'username' | 'name' | 'image' | 'email_verified' | 'phone' | 'metadata'
> {
  readonly tenant_id: string;
  readonly phone_verified: boolean;
  readonly password_hash: string | null;
}

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

  /** The user is one of the app, and is not removed for as long as the transaction lasts. */
  async hold(tenant: string, app: string, id: string): Promise<void> {
    const [found] = await sql`
      select from auth.users
      where tenant_id = ${tenant} and app_id = ${app} and id = ${id}
      for key share`;
    if (!found) throw NotFound('user');
  },
});

/** A ban that has ended by itself is none. */
export const userColumns = (sql: Sql) => sql`
  users.id, users.app_id, users.email, users.username, users.name, users.image, users.email_verified, users.phone,
  users.phone_verified, ${isBanned(sql)} as banned,
  case when ${isBanned(sql)} then users.ban_reason end as ban_reason,
  case when ${isBanned(sql)} then users.ban_expires_at end as ban_expires_at,
  users.last_signin_at, users.metadata, users.created_at, users.updated_at`;

const isBanned = (sql: Sql) =>
  sql`(users.banned and (users.ban_expires_at is null or users.ban_expires_at > now()))`;
