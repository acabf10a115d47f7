import { Invalid } from '../../../lib/errors.ts';

/** Whether the `Origin` header of a request is one of the listed origins. */
export type OriginMatcher = (origin: string) => boolean;

/**
 * Returns the stored form of an origin rule: `*`, `scheme://host[:port]` or `scheme://*.host[:port]`, with the scheme and host
 * in lower case, the host in punycode and a default port removed.
 * @throws Invalid naming `field` when the text is none of these (userinfo, path, a bare host, `null`)
 */
export function normalizeOriginRule(text: string, field: string): string {
  if (text === '*') return text;
  const wildcard = /^([A-Za-z][A-Za-z0-9+.-]*):\/\/\*\.(.+)$/.exec(text);
  const plain = wildcard === null ? text : `${wildcard[1]}://${wildcard[2]}`;
  const origin = normalizeOrigin(plain);
  if (origin === undefined || plain.includes('*')) throw Invalid(`${field}: '${text}' is not an origin`);
  return wildcard === null ? origin : origin.replace('://', '://*.');
}

/** Compiles stored rules. `*.` stands for one or more labels, never for none. Only `*` matches `null`. */
export function compileOrigins(rules: readonly string[]): OriginMatcher {
  const exact = new Set(rules.filter((rule) => !rule.includes('*')));
  const wildcards = rules.filter((rule) => rule.includes('://*.')).map(splitWildcard);
  const any = rules.includes('*');
  return (text) => {
    if (any) return true;
    const origin = normalizeOrigin(text);
    if (origin === undefined) return false;
    if (exact.has(origin)) return true;
    return wildcards.some(
      ({ scheme, suffix }) =>
        origin.startsWith(scheme) && origin.endsWith(suffix) && origin.length > scheme.length + suffix.length,
    );
  };
}

/** Splits `https://*.example.com:8443` into the part before the free labels and the part that has to follow them, including the dot. */
function splitWildcard(rule: string): { scheme: string; suffix: string } {
  const star = rule.indexOf('*');
  return { scheme: rule.slice(0, star), suffix: rule.slice(star + 1) };
}

const originForm = /^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/?#@\\\s]+$/;

/** Returns the comparable form of an origin, or undefined when the text is not an origin. */
function normalizeOrigin(text: string): string | undefined {
  if (!originForm.test(text)) return undefined;
  // `URL` knows hosts and default ports only for its own schemes, so other schemes are parsed as `http`.
  const scheme = text.slice(0, text.indexOf('://')).toLowerCase();
  const web = scheme === 'http' || scheme === 'https' || scheme === 'ws' || scheme === 'wss';
  const url = URL.parse(web ? text : `http${text.slice(scheme.length)}`);
  if (url === null || url.hostname === '' || url.pathname !== '/') return undefined;
  const port = web ? url.port : (/:([0-9]+)$/.exec(text)?.[1] ?? '');
  return port === '' ? `${scheme}://${url.hostname}` : `${scheme}://${url.hostname}:${port}`;
}
