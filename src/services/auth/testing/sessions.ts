import type { ImpersonationResult } from '../../../../generated/auth/types.ts';
import { newId } from '../../../lib/ids.ts';
import type { TestServer } from '../../../testing/server.ts';
import { deviceStore } from '../sessions/devices.store.ts';
import { adminTools, type SignedIn } from './admin.ts';
import { sha256 } from '../directory/tokens.ts';

/** Helpers for tests of users' operations on their own sessions. */
export function sessionTools(server: Pick<TestServer, 'request' | 'db'>) {
  const api = adminTools(server);
  const { sql } = server.db;

  /** Creates a device of the user and moves the session to it. */
  async function onDevice({ user, session_id }: Pick<SignedIn, 'user' | 'session_id'>) {
    const id = newId('dev');
    const device = await deviceStore(sql).insert({
      id,
      tenant_id: 'default',
      user_id: user.id,
      name: 'Firefox on Linux',
      type: 'desktop',
      browser: 'Firefox',
      os: 'Linux',
      ip_address: '203.0.113.7',
      user_agent: 'Test browser',
      token_hash: sha256(id),
    });
    await server.db.sql`update auth.sessions set device_id = ${id} where id = ${session_id}`;
    return device;
  }

  return {
    ...api,
    onDevice,
    /** Options of a request as the user of the session. */
    as: ({ session_token }: Pick<SignedIn, 'session_token'>) => ({ token: session_token }),
    /** Starts an impersonation of the user, as root. */
    async impersonating({ user }: Pick<SignedIn, 'user'>): Promise<{ token: string }> {
      const body = { target_user_id: user.id };
      const result = (await api.send('POST', '/admin/impersonate', { body })) as ImpersonationResult;
      return { token: result.session_token };
    },
    /** Whether the session is still accepted by `GET /me`. */
    async isIn({ session_token: token }: Pick<SignedIn, 'session_token'>): Promise<boolean> {
      return (await server.request('GET', '/auth/v1/auth/me', { token })).status === 200;
    },
    /** Starts another session of the user. */
    async again({ user }: SignedIn): Promise<SignedIn> {
      return { user, ...(await api.signIn(user)) };
    },
  };
}
