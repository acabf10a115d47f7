import type { TokenSet, User } from '../../../../generated/auth/types.ts';
import { parseDuration } from '../../../lib/durations.ts';
import { newId } from '../../../lib/ids.ts';
import type { Visit } from '../directory/visit.ts';
import { recognizeDevice } from './device-recognition.ts';
import type { KnownApp } from '../directory/directory.ts';
import { endSessions } from './revocations.ts';
import { sessionStore, type StoredSession } from './sessions.store.ts';
import { issueToken } from '../directory/tokens.ts';
import type { Write } from '../directory/writes.ts';

/** A session ends this long after the sign-in, however often it is refreshed. */
export const longestSessionMs = 90 * 24 * 3_600_000;

export interface StartedSession {
  readonly session: StoredSession;
  readonly tokens: TokenSet;
  /** Set for a new device. */
  readonly deviceToken: string | undefined;
}

/** Signs a user in: device, session, tokens. If the app's `max_sessions` is exceeded, the oldest session ends. */
export async function startSession(
  write: Write,
  app: KnownApp,
  tag: string,
  user: Pick<User, 'id'>,
  visit: Visit,
): Promise<StartedSession> {
  const { sql, tenant, emit } = write;
  const store = sessionStore(sql);
  const { device, token: deviceToken } = await recognizeDevice(write, user.id, tag, visit);
  const [sessionToken, refreshToken] = [issueToken('pst', tag), issueToken('prt', tag)];
  const session = await store.insert({
    id: newId('sess'),
    tenant_id: tenant,
    app_id: app.id,
    user_id: user.id,
    kind: 'api',
    org_id: null,
    ip_address: visit.ip,
    user_agent: visit.userAgent,
    device_id: device.id,
    impersonated_by: null,
    impersonator_session_id: null,
    token_hash: sessionToken.hash,
    refresh_hash: refreshToken.hash,
    expires_in: parseDuration(app.settings.session_ttl),
    refresh_expires_in: Math.min(parseDuration(app.settings.refresh_ttl), longestSessionMs),
  });
  emit('auth.session.created', session.id, { user_id: user.id, session_id: session.id });
  const { max_sessions } = app.settings;
  if (max_sessions > 0)
    await endSessions(write, await store.surplus(tenant, user.id, max_sessions), 'max_sessions');
  return {
    session,
    tokens: {
      session_token: sessionToken.token,
      refresh_token: refreshToken.token,
      expires_at: session.expires_at,
    },
    deviceToken,
  };
}
