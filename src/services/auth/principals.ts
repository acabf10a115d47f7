import type { Changes } from '../../db/changes.ts';
import { createFreshCache } from '../../db/fresh-cache.ts';
import type { Activity } from './activity.ts';
import type { Directory } from './directory.ts';
import type { SessionRow, WantedSession } from './principals.store.ts';
import { subjectsOf, type SessionPrincipal } from './session-principal.ts';
import { readTag, sha256Hex } from './tokens.ts';

export interface Principals {
  /** Undefined where the token is unknown, expired or revoked. From memory it answers at once. */
  readonly ofSession: (token: string) => SessionPrincipal | undefined | Promise<SessionPrincipal | undefined>;
}

export interface PrincipalsDeps {
  /** Finds all of these sessions. */
  readonly read: (wanted: WantedSession[]) => Promise<SessionRow[]>;
  readonly directory: Pick<Directory, 'tenantOf'>;
  readonly changes: Pick<Changes, 'position' | 'isCurrent'>;
  /** How many are kept at most. */
  readonly size: number;
  readonly activity: Pick<Activity, 'note'>;
}

interface Kept {
  readonly principal: SessionPrincipal;
  readonly expiresAt: number;
}

/** Reads in flight at once in a process, whatever the load. */
const width = 2;

/** Resolves the credentials that the service issues: remembered, and forgotten the moment something takes rights away. */
export function createPrincipals({ read, directory, changes, size, activity }: PrincipalsDeps): Principals {
  const cache = createFreshCache<WantedSession, Kept>({
    size,
    changes,
    width,
    read: async (wanted) => new Map((await read(wanted)).map(({ hash, ...row }) => [hash, kept(row)])),
    keyOf: ({ hash }) => hash,
    subjectsOf: ({ principal }) => subjectsOf(principal),
  });
  function live({ principal, expiresAt }: Kept): SessionPrincipal | undefined {
    const now = Date.now();
    if (now >= expiresAt) return undefined;
    activity.note(principal, now);
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

const kept = (principal: SessionPrincipal): Kept => ({
  principal,
  expiresAt: Date.parse(principal.expires_at),
});
