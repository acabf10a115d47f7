/** Returns the value of a cookie in a `Cookie` header; undefined when it is absent. */
export function cookieOf(header: string | undefined, name: string): string | undefined {
  const pairs = header?.split(';').map((pair) => pair.trim()) ?? [];
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1);
}

export interface CookieScope {
  /** The path below which the cookie is sent. */
  readonly path: string;
  /** Whether the cookie is sent only over `https`. */
  readonly secure: boolean;
}

export interface NewCookie extends CookieScope {
  readonly name: string;
  /** The value needs no escaping: it is a token or base64url. */
  readonly value: string;
  /** Without it, the cookie lasts until the browser is closed. */
  readonly maxAgeSeconds?: number;
}

/** Formats a `Set-Cookie` header. Scripts cannot read the cookie, and forms on other sites do not send it. */
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
