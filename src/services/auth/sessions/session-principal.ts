import type { Change } from '../../../db/changes.ts';
import type { SessionVerdict } from '../../../http/credentials.ts';

/** The user of a session token, and their current rights. */
export interface SessionPrincipal extends SessionVerdict {
  readonly expires_at: string;
}

/** The subjects that a session's rights depend on: itself, its user, its app, and each scope that it may lose. */
export const subjectsOf = ({
  id,
  user_id,
  app,
  scopes,
  org_scopes,
}: Pick<SessionVerdict, 'id' | 'user_id' | 'app' | 'scopes' | 'org_scopes'>): Change[] => [
  { kind: 'session', id },
  { kind: 'user', id: user_id },
  { kind: 'app', id: app },
  ...[...scopes, ...org_scopes].map((scope) => ({ kind: 'scope', id: `${app} ${scope}` })),
];
