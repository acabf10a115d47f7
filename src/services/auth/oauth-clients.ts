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
