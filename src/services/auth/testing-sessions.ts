import type { ImpersonationResult } from '../../../generated/auth/types.ts';
import { newId } from '../../lib/ids.ts';
import type { TestServer } from '../../testing/server.ts';
import { deviceStore } from './devices.store.ts';
import { adminTools, type SignedIn } from './testing-admin.ts';
import { sha256 } from './tokens.ts';

/** The short words of the tests of what users do to their own sessions. */
export function sessionTools(server: Pick<TestServer, 'request' | 'db'>) {
  const api = adminTools(server);
  const { sql } = server.db;

  /** A device of the user's; the session is of that device from now on. */
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
    /** As the user of the session. */
    as: ({ session_token }: Pick<SignedIn, 'session_token'>) => ({ token: session_token }),
    /** Who impersonates the user, as root began it. */
    async impersonating({ user }: Pick<SignedIn, 'user'>): Promise<{ token: string }> {
      const body = { target_user_id: user.id };
      const result = (await api.send('POST', '/admin/impersonate', { body })) as ImpersonationResult;
      return { token: result.session_token };
    },
    /** The status of the session's own question who it is. */
    async isIn({ session_token: token }: Pick<SignedIn, 'session_token'>): Promise<boolean> {
      return (await server.request('GET', '/auth/v1/auth/me', { token })).status === 200;
    },
    /** Another session of the user. */
    async again({ user }: SignedIn): Promise<SignedIn> {
      return { user, ...(await api.signIn(user)) };
    },
  };
}
