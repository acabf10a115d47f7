import type { JWTPayload } from 'jose';
import type { Change } from '../../../../db/changes.ts';

/** The claims of an access token (RFC 9068) whose signature was verified. */
export interface AccessClaims {
  /** `jti`. */
  readonly id: string;
  readonly tenant: string;
  readonly app: string;
  readonly client: string;
  /** `sub`; null if the client acts for itself. */
  readonly user: string | null;
  /** `sid`: the provider's session in which the user signed in. */
  readonly session: string | null;
  /** `gid`: the user's grant to the client. */
  readonly grant: string | null;
  readonly org: string | null;
  /** `act`: the impersonator of the user. */
  readonly impersonatedBy: string | null;
  /** `cnf`: the thumbprint of the key that it is bound to; null if any holder may use it. */
  readonly key: string | null;
  readonly scopes: readonly string[];
  readonly audiences: readonly string[];
  /** `iat_ms`: the time of issue, by the database's clock, like the times of changes. */
  readonly issuedAt: number;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

/** Returns undefined if a claim is missing or invalid. */
export function readClaims(payload: JWTPayload): AccessClaims | undefined {
  const { jti, sub, aud, exp, iat_ms: issuedAt, scope = '' } = payload;
  const [id, subject] = [text(jti), text(sub)];
  const [tenant, app, client] = [
    text(payload['tenant_id']),
    text(payload['app_id']),
    text(payload['client_id']),
  ];
  if (id === null || subject === null || tenant === null || app === null || client === null) return undefined;
  if (typeof issuedAt !== 'number' || typeof exp !== 'number' || typeof scope !== 'string') return undefined;
  return {
    id,
    tenant,
    app,
    client,
    user: subject === client ? null : subject,
    session: text(payload['sid']),
    grant: text(payload['gid']),
    org: text(payload['org_id']),
    impersonatedBy: text((payload['act'] as { sub?: unknown } | undefined)?.sub),
    key: text((payload['cnf'] as { jkt?: unknown } | undefined)?.jkt),
    scopes: scope.split(' ').filter((one) => one !== ''),
    audiences: typeof aud === 'string' ? [aud] : (aud ?? []),
    issuedAt,
    expiresAt: exp * 1_000,
  };
}

const text = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

/** The subjects whose changes end a token or reduce its rights: itself, its grant, sign-in, user, client, app, and each of its scopes. */
export const subjectsOfClaims = ({
  id,
  app,
  client,
  user,
  session,
  grant,
  scopes,
}: AccessClaims): Change[] => [
  { kind: 'token', id },
  ...(grant === null ? [] : [{ kind: 'grant', id: grant }]),
  ...(session === null ? [] : [{ kind: 'session', id: session }]),
  ...(user === null ? [] : [{ kind: 'user', id: user }]),
  { kind: 'client', id: client },
  { kind: 'app', id: app },
  ...scopes.map((scope) => ({ kind: 'scope', id: `${app} ${scope}` })),
];
