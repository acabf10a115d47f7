import type { Changes } from '../../db/changes.ts';
import { createFreshCache } from '../../db/fresh-cache.ts';
import type { Database } from '../../db/index.ts';
import { clientStore, type ClientRow } from './clients.store.ts';

/** An OAuth client as the provider reads it. */
export interface OAuthClient {
  readonly id: string;
  readonly tenant: string;
  readonly app: string;
  readonly name: string;
  readonly redirect_uris: readonly string[];
  readonly post_logout_redirect_uris: readonly string[];
  readonly scopes: readonly string[];
  readonly grant_types: readonly ('authorization_code' | 'refresh_token' | 'client_credentials')[];
  readonly public: boolean;
  /** SHA-256 of the secrets that are good now: the current one, and one in its grace until `until`. */
  readonly secrets: readonly { readonly hash: Buffer; readonly until: number | null }[];
  readonly skip_consent: boolean;
  readonly require_pkce: boolean;
  readonly access_token_ttl: number;
  readonly audiences: readonly string[];
}

/** The clients of all tenants, kept in memory and forgotten by the change feed. */
export interface OAuthClients {
  find(clientId: string): Promise<OAuthClient | undefined>;
}

const form = /^client_[0-7][0-9a-hjkmnp-tv-z]{25}$/;

/** `size`: how many are kept at most. Ids that cannot be one never reach the database. */
export function createOAuthClients({
  db,
  changes,
  size,
}: {
  readonly db: Pick<Database, 'sql'>;
  readonly changes: Pick<Changes, 'position' | 'isCurrent'>;
  readonly size: number;
}): OAuthClients {
  const cache = createFreshCache<string, OAuthClient>({
    size,
    changes,
    width: 2,
    read: async (ids) =>
      new Map((await clientStore(db.sql).known(ids)).map((row) => [row.id, clientOf(row)])),
    keyOf: (id) => id,
    subjectsOf: ({ id, app }) => [
      { kind: 'client', id },
      { kind: 'app', id: app },
    ],
  });
  return {
    async find(id) {
      if (!form.test(id)) return undefined;
      return cache.get(id) ?? cache.load(id);
    },
  };
}

function clientOf({ secret_hash, previous_secret_hash, previous_until, ...client }: ClientRow): OAuthClient {
  const until = previous_until === null ? null : Date.parse(previous_until);
  return {
    ...client,
    secrets: [
      ...(secret_hash === null ? [] : [{ hash: secret_hash, until: null }]),
      ...(previous_secret_hash === null ? [] : [{ hash: previous_secret_hash, until }]),
    ],
  };
}
