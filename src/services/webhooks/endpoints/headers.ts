import { Invalid } from '../../../lib/errors.ts';

type Headers = Readonly<Record<string, string>>;

/** Custom headers as an endpoint keeps them. */
export interface StoredHeaders {
  /** All headers as they are shown: secret values are masked. */
  readonly shown: Record<string, string>;
  /** The values that are masked, by the same names. */
  readonly secret: Record<string, string>;
}

/** What is shown in place of a secret value; sent back, it keeps the stored one. */
export const mask = '********';

const token = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$/;
const secretName = /^(?:authorization|cookie)$|key|token|secret|password/i;

/** Headers that the sender or the connection determines. */
const reserved = new RegExp(
  [
    '^(?:host|transfer-encoding|connection|keep-alive|te|trailer|upgrade|expect|date|user-agent|via',
    'content-.*|proxy-.*|webhook-.*|plinth-.*)$',
  ].join('|'),
  'i',
);

/**
 * Divides headers into what may be shown and what may not.
 * @param kept the secret values that the endpoint has so far
 * @throws Invalid for a name that is malformed, reserved or given twice, and for a mask without a stored value
 */
export function storedHeaders(given: Headers, kept: () => Headers): StoredHeaders {
  const seen = new Set<string>();
  for (const name of Object.keys(given)) {
    if (!token.test(name)) throw Invalid('headers: a name must be 1 to 64 characters of an HTTP token');
    if (reserved.test(name)) throw Invalid(`headers: ${name} is reserved`);
    if (seen.has(name.toLowerCase())) throw Invalid(`headers: ${name} is given more than once`);
    seen.add(name.toLowerCase());
  }
  const all = Object.entries(given);
  const secret = all.filter(([name]) => secretName.test(name));
  const values = secret.some(([, value]) => value === mask) ? byLowerCase(kept()) : new Map<string, string>();
  return {
    shown: Object.fromEntries(all.map(([name, value]) => [name, secretName.test(name) ? mask : value])),
    secret: Object.fromEntries(secret.map(([name, value]) => [name, value === mask ? stored(name) : value])),
  };

  function stored(name: string): string {
    const value = values.get(name.toLowerCase());
    if (value === undefined) throw Invalid(`headers: ${name} has no stored value to keep`);
    return value;
  }
}

const byLowerCase = (headers: Headers) =>
  new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
