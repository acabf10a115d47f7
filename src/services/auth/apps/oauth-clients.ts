import type { Client } from '../../../../generated/auth/types.ts';
import type { Changes } from '../../../db/changes.ts';
import { createFreshCache } from '../../../db/fresh-cache.ts';
import type { Database } from '../../../db/index.ts';
import { clientStore, type ClientRow } from './clients.store.ts';

/** An OAuth client as the provider reads it. */
export interface OAuthClient {
  readonly id: string;
  readonly tenant: string;
  readonly app: string;
  readonly name: string;
  readonly logo_url: string | null;
  readonly redirect_uris: readonly string[];
  readonly post_logout_redirect_uris: readonly string[];
  readonly scopes: readonly string[];
  readonly grant_types: Client['grant_types'];
  readonly public: boolean;
  /** SHA-256 of the valid secrets: the current one, and a replaced one that stays valid until `until`. */
  readonly secrets: readonly { readonly hash: Buffer; readonly until: number | null }[];
  readonly skip_consent: boolean;
  readonly require_pkce: boolean;
  readonly access_token_ttl: number;
  readonly audiences: readonly string[];
  readonly token_endpoint_auth_method: Client['token_endpoint_auth_method'];
  /** The client's keys, or their URL, for `private_key_jwt`. */
  readonly jwks: Client['jwks'];
  readonly jwks_uri: string | null;
  /** Whether the client's tokens are always bound to a key. */
  readonly dpop_bound_access_tokens: boolean;
  /** The URI to which session logouts are sent; null if the client wants no notifications. */
  readonly backchannel_logout_uri: string | null;
  readonly self_registered: boolean;
}

/** The clients of all tenants, cached in memory and evicted by the change feed. */
export interface OAuthClients {
  find(clientId: string): Promise<OAuthClient | undefined>;
}

const form = /^client_[0-7][0-9a-hjkmnp-tv-z]{25}$/;

/** `size` is the maximum number of cached clients. Malformed ids never reach the database. */
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
