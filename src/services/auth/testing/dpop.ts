import { calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT, type JWK } from 'jose';
import { sha256 } from '../directory/tokens.ts';

/** A client's key, and the proofs made with it (RFC 9449). */
export interface HeldKey {
  readonly jwk: JWK;
  readonly thumbprint: string;
  prove(
    method: string,
    address: string,
    token?: string,
    claims?: Record<string, unknown>,
    header?: Record<string, unknown>,
  ): Promise<string>;
}

export async function newHeldKey(alg: 'ES256' | 'Ed25519' = 'ES256'): Promise<HeldKey> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  const jwk = await exportJWK(publicKey);
  return {
    jwk,
    thumbprint: await calculateJwkThumbprint(jwk),
    prove(htm, htu, token, claims = {}, header = {}) {
      const ath = token === undefined ? {} : { ath: sha256(token).toString('base64url') };
      const iat = Math.floor(Date.now() / 1_000);
      return new SignJWT({ htm, htu, iat, jti: crypto.randomUUID(), ...ath, ...claims })
        .setProtectedHeader({ alg, typ: 'dpop+jwt', jwk, ...header })
        .sign(privateKey);
    },
  };
}
