import type { Clock } from '../db/clock.ts';
import type { Sealer } from '../lib/seal.ts';
import { newWebhookSecret, signatureHeaders } from '../lib/standard-webhooks.ts';

/** A new secret, and the same secret sealed for the database. */
export interface IssuedSecret {
  readonly secret: string;
  readonly box: Buffer;
}

/** Signs deliveries with secrets that are stored sealed. */
export interface Signer {
  /** Creates a secret of the tenant. */
  readonly issue: (tenant: string) => IssuedSecret;
  /**
   * The headers that sign a body as of now, once with each secret, so that a receiver that has one of them can verify it.
   * @throws Error if a secret was sealed with an unknown master key
   */
  readonly headers: (
    tenant: string,
    boxes: readonly Uint8Array[],
    signed: { readonly id: string; readonly body: string },
  ) => Record<string, string>;
}

/** @param purpose what the secrets are sealed for: `<service>/<what>/v1` */
export const createSigner = (
  { sealer, clock }: { readonly sealer: Sealer; readonly clock: Clock },
  purpose: string,
): Signer => ({
  issue(tenant) {
    const secret = newWebhookSecret();
    return { secret, box: sealer.seal(purpose, tenant, secret) };
  },
  headers(tenant, boxes, { id, body }) {
    const secrets = boxes.map((box) => sealer.open(purpose, tenant, box).toString());
    return signatureHeaders(secrets, { id, seconds: Math.floor(clock.now() / 1_000), body });
  },
});
