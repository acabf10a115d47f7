import type { Change } from '../../db/changes.ts';
import type { SessionVerdict } from '../../http/credentials.ts';

/** Whom a session token stands for, and what they may do now. */
export interface SessionPrincipal extends SessionVerdict {
  readonly expires_at: string;
}

/** What a session's rights depend on: itself, its user, its app, and each scope that it may lose. */
export const subjectsOf = ({ id, user_id, app, scopes }: SessionVerdict): Change[] => [
  { kind: 'session', id },
  { kind: 'user', id: user_id },
  { kind: 'app', id: app },
  ...scopes.map((scope) => ({ kind: 'scope', id: `${app} ${scope}` })),
];
