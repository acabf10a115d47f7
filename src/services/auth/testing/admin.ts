import type { App, Member, Role, User } from '../../../../generated/auth/types.ts';
import { newId } from '../../../lib/ids.ts';
import type { TestRequest, TestServer } from '../../../testing/server.ts';
import { directoryStore } from '../directory/directory.store.ts';
import { principalStore } from '../directory/principals.store.ts';
import { sessionStore } from '../sessions/sessions.store.ts';
import { newSlug, tools } from './index.ts';
import { testStore } from './admin.store.ts';
import { issueToken, sha256Hex } from '../directory/tokens.ts';

/** A user with a live session. */
export interface SignedIn {
  readonly user: User;
  readonly session_id: string;
  readonly session_token: string;
}

/** The app and tenant of a user; by default the app `default`. */
export interface Place {
  readonly app?: Pick<App, 'id'>;
  readonly tenant?: string;
}

/** Helpers for the administration tests: those of the service, and sessions without a sign-in. */
export function adminTools(server: Pick<TestServer, 'request' | 'db'>) {
  const api = tools(server);
  const { sql } = server.db;

  /** Options of a request as root, for the app and tenant. */
  const at = ({ app, tenant }: Place): TestRequest => ({
    ...(tenant === undefined ? {} : { tenant }),
    ...(app === undefined ? {} : { headers: { 'X-App-ID': app.id } }),
  });

  async function signedIn(place: Place = {}, account: object = {}): Promise<SignedIn> {
    const user = await api.user(account, at(place));
    return { user, ...(await signIn(user, place)) };
  }

  /** Starts another session of a user. */
  async function signIn({ id, app_id }: User, { tenant = 'default' }: Place = {}) {
    const tag = await directoryStore(sql).tagOf(tenant);
    const [session, refresh] = [issueToken('pst', tag), issueToken('prt', tag)];
    const { id: session_id } = await sessionStore(sql).insert({
      id: newId('sess'),
      tenant_id: tenant,
      app_id,
      user_id: id,
      kind: 'api',
      org_id: null,
      ip_address: '203.0.113.77',
      user_agent: 'Test browser',
      device_id: null,
      impersonated_by: null,
      impersonator_session_id: null,
      token_hash: session.hash,
      refresh_hash: refresh.hash,
      expires_in: 3_600_000,
      refresh_expires_in: 7_200_000,
    });
    return { session_id, session_token: session.token };
  }

  /** Gives the user these scopes by a role of their own. */
  async function give({ id }: Pick<User, 'id'>, place: Place, scopes: readonly string[]): Promise<Role> {
    const role = await api.role({}, at(place));
    for (const scope of scopes) {
      const [resource, action] = scope === '*' ? ['*', '*'] : scope.split(':');
      await api.send('POST', `/roles/${role.id}/permissions`, { ...at(place), body: { resource, action } });
    }
    await api.send('POST', `/roles/${role.id}/assign`, { ...at(place), body: { user_id: id } });
    return role;
  }

  return {
    ...api,
    at,
    signedIn,
    signIn,
    give,
    app: (body: object = {}, options: TestRequest = {}): Promise<App> =>
      api.send('POST', '/apps', { ...options, body: { name: 'App', slug: newSlug(), ...body } }),
    /** Returns the session token of a new user of the app `default` who holds these scopes. */
    async holding(...scopes: string[]): Promise<string> {
      const { user, session_token } = await signedIn();
      await give(user, {}, scopes);
      return session_token;
    },
    /** Returns the session's current scopes, in the app and in its organization. */
    async scopesOf({ session_id, session_token }: SignedIn): Promise<string[]> {
      const tenant = await testStore(sql).tenantOf(session_id);
      const hash = sha256Hex(session_token);
      const [{ scopes = [], org_scopes = [] } = {}] = await principalStore(sql).sessions([{ tenant, hash }]);
      return [...new Set([...scopes, ...org_scopes])];
    },
    /** Creates an organization with these members; returns its id. */
    organization: (
      members: Readonly<Record<string, Member['role']>> = {},
      { app, tenant = 'default' }: Place = {},
    ): Promise<string> => testStore(sql).insertOrganization(tenant, app?.id ?? 'default', members),
  };
}
