/** Who is calling, and how the answer may be shaped beyond its body. Handlers get one per request. */
export interface Context {
  /** The tenant every lookup is scoped by. */
  readonly tenant: string;
  readonly app: string;
  /** Who acts: a user id, a key id, or `root`. Recorded as `created_by`, `rotated_by` and in events. */
  readonly actor: string;
  readonly userId: string | null;
  readonly subjectId: string | null;
  readonly credential: Credential;
  /** The session behind the credential, where it is one. */
  readonly session: CallerSession | null;
  readonly scopes: readonly string[];
  /** True when the credential holds `<service>:admin` in the operator tenant and is not confined to a tenant. */
  readonly operator: boolean;
  /** The header as sent, for operations whose clients identify themselves otherwise, such as OAuth's with `Basic`. */
  readonly authorization?: string | undefined;
  /** The `Cookie` header as sent, for operations that browsers come to. */
  readonly cookie?: string | undefined;
  readonly requestId: string;
  /** The address of the peer, or the one a trusted proxy forwarded. */
  readonly ip: string;
  /** The `User-Agent` header, at most 512 characters of it. */
  readonly userAgent: string | null;
  /** Aborted when the client goes away before the answer is sent. */
  readonly signal: AbortSignal;
  readonly reply: Reply;
  /** Whether the caller's scopes cover the given one (`a:*`, `*:b` and `*` cover more than themselves). */
  holds(scope: string): boolean;
}

/** The session of a caller who signed in. */
export interface CallerSession {
  readonly id: string;
  /** The active organization. */
  readonly orgId: string | null;
  /** Who acts as the user. */
  readonly impersonatedBy: string | null;
  /** When the user last proved who they are. */
  readonly authenticatedAt: string;
}

export interface Credential {
  readonly kind: 'root' | 'anonymous' | 'key' | 'session' | 'token';
  /** Id of the key, session or token; `root` for the root token. */
  readonly id: string;
}

/** What a handler may say besides its return value. The documented headers and statuses of the operation only. */
export interface Reply {
  status(code: number): void;
  /** Several values are several lines, as `Set-Cookie` needs them. */
  header(name: string, value: string | number | readonly string[]): void;
}
