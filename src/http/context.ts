import type { Caller } from './caller.ts';

/** Who is calling, and how the handler can shape the response beyond its body. Each request has its own context. */
export interface Context {
  /** The caller as a whole, whom a port needs to ask another service on the caller's behalf. */
  readonly caller: Caller;
  /** The tenant to which every lookup is restricted. */
  readonly tenant: string;
  readonly app: string;
  /** Who acts: a user id, a key id, or `root`. Recorded as `created_by`, `rotated_by` and in events. */
  readonly actor: string;
  readonly userId: string | null;
  readonly subjectId: string | null;
  readonly credential: Credential;
  /** The session behind the credential; null when the credential is not a session token. */
  readonly session: CallerSession | null;
  /** What the caller may do in the whole app. */
  readonly scopes: readonly string[];
  /** True for root and for holders of `<service>:admin` in the operator's own app, unless the caller is confined to a tenant. */
  readonly operator: boolean;
  /** The `Authorization` header as sent, for operations whose clients authenticate in another way, such as OAuth clients with `Basic`. */
  readonly authorization?: string | undefined;
  /** The `Cookie` header as sent, for operations that browsers open. */
  readonly cookie?: string | undefined;
  /** The `Idempotency-Key` header as sent, for operations that keep it with what they make, so that it also outlives a failure. */
  readonly idempotencyKey?: string | undefined;
  readonly requestId: string;
  /** The address of the peer, or the one a trusted proxy forwarded. */
  readonly ip: string;
  /** The `User-Agent` header, cut to 512 characters. */
  readonly userAgent: string | null;
  /** Aborted when the client disconnects before the response is sent. */
  readonly signal: AbortSignal;
  readonly reply: Reply;
  /** Lets pages of these origins read the response, also when it is an error; `*` stands for every origin. */
  admitOrigins?(origins: readonly string[]): void;
  /**
   * Waits for something that may take long, without keeping other requests of the caller from their turns. Rejects with `Unavailable`
   * when too many requests of the caller wait.
   */
  rest<T>(wait: () => Promise<T>): Promise<T>;
  /** Whether the caller's scopes in the whole app cover the given one; `a:*`, `*:b` and `*` are wildcards. */
  holds(scope: string): boolean;
}

/** The session of a caller who signed in. */
export interface CallerSession {
  readonly id: string;
  /** The active organization. */
  readonly orgId: string | null;
  /** Scopes granted by roles in the active organization: they count only in operations on that organization. */
  readonly orgScopes: readonly string[];
  /** Who impersonates the user. */
  readonly impersonatedBy: string | null;
  /** When the user last proved who they are. */
  readonly authenticatedAt: string;
}

export interface Credential {
  /** `own` stands for a credential that only the service of the operation knows, such as a signed link. */
  readonly kind: 'root' | 'anonymous' | 'key' | 'session' | 'token' | 'own';
  /** Id of the key, session, token or link; `root` for the root token. */
  readonly id: string;
}

/** What a handler may set besides its return value: only statuses and headers that the operation documents. */
export interface Reply {
  status(code: number): void;
  /** Sends several values as several header lines, as `Set-Cookie` requires. */
  header(name: string, value: string | number | readonly string[]): void;
}
