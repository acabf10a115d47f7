import { importJWK, type JWK, type JWTPayload, SignJWT } from 'jose';
import { vi } from 'vitest';
import type { Database } from '../../../db/index.ts';
import { newId } from '../../../lib/ids.ts';
import { createSealer } from '../../../lib/seal.ts';
import { masterKey } from '../../../testing/server.ts';
import { keyPurpose } from '../oauth/keys/signing-key-rotation.ts';
import { signingKeyStore } from '../oauth/keys/signing-keys.store.ts';

/** The issuer and the audience of a test server's tokens. */
export const testIssuer = 'http://127.0.0.1:4000/auth/v1/auth';
export const testAudience = 'urn:plinth:api';

/** The claims of an access token of a client of the app `default` that acts for itself. */
export function newClaims(
  claims: Record<string, unknown> = {},
): JWTPayload & { sub: string; jti: string; exp: number } {
  const client = newId('client');
  const now = Date.now();
  return {
    iss: testIssuer,
    aud: testAudience,
    sub: client,
    client_id: client,
    jti: newId('tok'),
    exp: Math.floor(now / 1_000) + 3_600,
    iat: Math.floor(now / 1_000),
    iat_ms: now,
    scope: '',
    tenant_id: 'default',
    app_id: 'default',
    ...claims,
  };
}

/** Signs any claims, not only those of an access token. */
export async function signed(
  key: JWK,
  claims: JWTPayload,
  header: Record<string, string> = {},
): Promise<string> {
  const head = { alg: key.alg!, kid: key.kid!, typ: 'at+jwt', ...header };
  return new SignJWT(claims).setProtectedHeader(head).sign(await importJWK(key, key.alg));
}

/** The key that currently signs access tokens. A server that has just started may still be making its first one. */
export async function activeKey({ sql }: Pick<Database, 'sql'>, alg = 'ES256'): Promise<JWK> {
  const found = await vi.waitFor(
    async () => {
      const keys = await signingKeyStore(sql).list();
      return (
        keys.find((key) => key.alg === alg && key.state === 'active') ??
        Promise.reject(new Error('no key yet'))
      );
    },
    { timeout: 10_000, interval: 20 },
  );
  return JSON.parse(
    createSealer(masterKey)
      .open(...keyPurpose, found.private_box)
      .toString(),
  ) as JWK;
}

/** An access token as the provider would issue it now, by the clock of the database. */
export async function mint(db: Pick<Database, 'sql'>, claims: Record<string, unknown> = {}): Promise<string> {
  const [{ now }] = await db.sql<[{ now: number }]>`
    select (extract(epoch from clock_timestamp()) * 1000)::float8 as now`;
  return signed(await activeKey(db), newClaims({ iat_ms: Math.floor(now), ...claims }));
}
