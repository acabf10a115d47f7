import type { JWTPayload } from 'jose';
import type { Change } from '../../db/changes.ts';

/** What an access token says (RFC 9068), once its signature holds. */
export interface AccessClaims {
  /** `jti`. */
  readonly id: string;
  readonly tenant: string;
  readonly app: string;
  readonly client: string;
  /** `sub`; null where the client acts for itself. */
  readonly user: string | null;
  /** `sid`: of the provider's sign-in behind it. */
  readonly session: string | null;
  /** `gid`: what the user granted the client. */
  readonly grant: string | null;
  readonly org: string | null;
  /** `act`: who acts as the user. */
  readonly impersonatedBy: string | null;
  readonly scopes: readonly string[];
  readonly audiences: readonly string[];
  /** `iat_ms`: when it was issued, by the clock of the database, as changes are dated. */
  readonly issuedAt: number;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

/** Undefined where a claim is missing or is not what it has to be. */
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
    scopes: scope.split(' ').filter((one) => one !== ''),
    audiences: typeof aud === 'string' ? [aud] : (aud ?? []),
    issuedAt,
    expiresAt: exp * 1_000,
  };
}

const text = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

/** What ends a token or takes rights from it: itself, its grant, sign-in, user, client and app, and each of its scopes. */
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
