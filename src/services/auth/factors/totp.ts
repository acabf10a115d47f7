import { Secret, TOTP } from 'otpauth';

/** The parameters that every authenticator app supports (RFC 6238). */
const algorithm = { algorithm: 'SHA1', digits: 6, period: 30 } as const;

/** A new secret of 20 bytes. */
export const newTotpSecret = (): Buffer => Buffer.from(new Secret({ size: 20 }).bytes);

/** The secret as it is typed into an authenticator app. */
export const totpSecretText = (secret: Uint8Array): string => readable(secret).base32;

/** The content of the QR code for an authenticator app: the secret, with the name of the product and of the account. */
export const provisioningUri = (secret: Uint8Array, issuer: string, account: string): string =>
  new TOTP({ ...algorithm, issuer, label: account, secret: readable(secret) }).toString();

/**
 * Returns the time step that the code belongs to: that of `now` (milliseconds), the one before or the one after. Returns
 * undefined if it matches none of them.
 */
export function stepOfCode(secret: Uint8Array, code: string, now: number): number | undefined {
  if (!/^\d{6}$/.test(code)) return undefined;
  const totp = new TOTP({ ...algorithm, secret: readable(secret) });
  const away = totp.validate({ token: code, timestamp: now, window: 1 });
  return away === null ? undefined : totp.counter({ timestamp: now }) + away;
}

const readable = (secret: Uint8Array) => new Secret({ buffer: Uint8Array.from(secret).buffer });
