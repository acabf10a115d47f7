/** The value of a cookie in a `Cookie` header; undefined without one. */
export function cookieOf(header: string | undefined, name: string): string | undefined {
  const pairs = header?.split(';').map((pair) => pair.trim()) ?? [];
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1);
}

export interface CookieScope {
  /** Below which it is sent. */
  readonly path: string;
  /** Only over `https`. */
  readonly secure: boolean;
}

export interface NewCookie extends CookieScope {
  readonly name: string;
  /** Needs no escaping: a token or base64url. */
  readonly value: string;
  /** Until the browser is closed, without it. */
  readonly maxAgeSeconds?: number;
}

/** A line of `Set-Cookie`. No script sees it, and no form on another site sends it. */
export const setCookie = ({ name, value, path, secure, maxAgeSeconds }: NewCookie): string =>
  [
    `${name}=${value}`,
    `Path=${path}`,
    'HttpOnly',
    'SameSite=Lax',
    ...(secure ? ['Secure'] : []),
    ...(maxAgeSeconds === undefined ? [] : [`Max-Age=${maxAgeSeconds}`]),
  ].join('; ');

export const clearCookie = (name: string, scope: CookieScope): string =>
  setCookie({ ...scope, name, value: '', maxAgeSeconds: 0 });
