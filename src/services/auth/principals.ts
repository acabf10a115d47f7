import type { Database } from '../../db/index.ts';
import type { Directory } from './directory.ts';
import { scopeStore } from './scopes.store.ts';
import { sessionStore, type SessionFacts } from './sessions.store.ts';
import { readToken } from './tokens.ts';

/** Whom a session token stands for, and what they may do now. */
export interface SessionPrincipal extends SessionFacts {
  readonly scopes: readonly string[];
}

export interface Principals {
  /** Undefined where the token is unknown, expired or revoked. */
  readonly ofSession: (token: string) => Promise<SessionPrincipal | undefined>;
}

/** Resolves the credentials that the service issues. */
export function createPrincipals({ db, directory }: { db: Database; directory: Directory }): Principals {
  return {
    async ofSession(token) {
      const presented = readToken('pst', token);
      const tenant = presented && (await directory.tenantOf(presented.tag));
      if (!presented || tenant === undefined) return undefined;
      const [session] = await sessionStore(db.sql).resolve(tenant, [presented.hash]);
      // What a deleted app gave out ends with it, long before its rows are gone.
      if (!session || !(await directory.app(session.app))) return undefined;
      const scopes = await scopeStore(db.sql).ofUser(tenant, session.user_id, session.org_id);
      return { ...session, scopes };
    },
  };
}
