import type { Change, Changes } from '../../../db/changes.ts';
import { createFreshCache } from '../../../db/fresh-cache.ts';
import type { Clock } from '../../../db/clock.ts';
import type { Activity } from './activity.ts';
import type { Directory } from '../directory/directory.ts';
import type { Impersonator, LiveSession } from './live-sessions.ts';
import type { WantedSession } from '../directory/principals.store.ts';
import { subjectsOf, type SessionPrincipal } from './session-principal.ts';
import { readTag, sha256Hex } from '../directory/tokens.ts';

export interface Principals {
  /** Returns undefined if the token is unknown, expired or revoked. Cached results are returned synchronously. */
  readonly ofSession: (token: string) => SessionPrincipal | undefined | Promise<SessionPrincipal | undefined>;
}

export interface PrincipalsDeps {
  /** Finds all of these sessions. */
  readonly read: (wanted: WantedSession[]) => Promise<LiveSession[]>;
  readonly directory: Pick<Directory, 'tenantOf'>;
  readonly changes: Pick<Changes, 'position' | 'isCurrent'> & { readonly clock: Clock };
  /** Maximum number of cached principals. */
  readonly size: number;
  readonly activity: Pick<Activity, 'note'>;
}

interface Cached {
  readonly principal: SessionPrincipal;
  readonly expiresAt: number;
  readonly impersonator: Impersonator | null;
}

/** Maximum number of concurrent reads per process, whatever the load. */
const width = 2;

/** Resolves the credentials that the service issues: results are cached, and dropped as soon as rights are removed. */
export function createPrincipals({ read, directory, changes, size, activity }: PrincipalsDeps): Principals {
  const cache = createFreshCache<WantedSession, Cached>({
    size,
    changes,
    width,
    read: async (wanted) => new Map((await read(wanted)).map(({ hash, ...row }) => [hash, kept(row)])),
    keyOf: ({ hash }) => hash,
    subjectsOf: ({ principal, impersonator }) => [
      ...subjectsOf(principal),
      ...(impersonator === null ? [] : subjectsOfImpersonator(principal.app, impersonator)),
    ],
  });
  function live({ principal, expiresAt }: Cached): SessionPrincipal | undefined {
    if (changes.clock.now() >= expiresAt) return undefined;
    activity.note(principal);
    return principal;
  }

  async function load(tag: string, hash: string): Promise<SessionPrincipal | undefined> {
    const tenant = await directory.tenantOf(tag);
    const found = tenant === undefined ? undefined : await cache.load({ tenant, hash });
    return found && live(found);
  }

  return {
    ofSession(token) {
      const tag = readTag('pst', token);
      if (tag === undefined) return undefined;
      const hash = sha256Hex(token);
      const found = cache.get(hash);
      return found ? live(found) : load(tag, hash);
    },
  };
}

/** The subjects of an impersonation besides its own session: the impersonator's session, and their scopes. */
const subjectsOfImpersonator = (app: string, { session_id, ...impersonator }: Impersonator): Change[] =>
  subjectsOf({ ...impersonator, id: session_id, app, org_scopes: [] });

const kept = ({ impersonator, ...principal }: Omit<LiveSession, 'hash'>): Cached => ({
  principal,
  impersonator,
  expiresAt: Date.parse(principal.expires_at),
});
