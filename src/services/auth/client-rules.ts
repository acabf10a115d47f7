import type { Client } from '../../../generated/auth/types.ts';
import { Invalid } from '../../lib/errors.ts';

/** What the rules of a client look at. */
export type ClientProfile = Pick<
  Client,
  'redirect_uris' | 'post_logout_redirect_uris' | 'scopes' | 'grant_types' | 'audiences' | 'public'
>;

/** @throws Invalid naming the first member that a client like this cannot have. */
export function checkClient(client: ClientProfile & { require_pkce?: boolean | undefined }): void {
  for (const uri of client.redirect_uris) checkRedirectUri('redirect_uris', uri, client.public);
  for (const uri of client.post_logout_redirect_uris)
    checkRedirectUri('post_logout_redirect_uris', uri, client.public);
  client.audiences.forEach(checkAudience);
  const grants = new Set(client.grant_types);
  if (grants.has('authorization_code') && client.redirect_uris.length === 0)
    throw Invalid('redirect_uris: at least one is needed with authorization_code');
  if (grants.has('refresh_token') && !grants.has('authorization_code'))
    throw Invalid('grant_types: refresh_token needs authorization_code');
  if (grants.has('client_credentials') && client.public)
    throw Invalid('grant_types: client_credentials is not for public clients');
  if (client.public && client.require_pkce === false)
    throw Invalid('require_pkce: public clients always use it');
}

/**
 * Where a browser may be sent: `https`; `http` on the machine of the browser, which needs no certificate; and for public clients a scheme that is a
 * reversed domain name, which is how phones know one program from another (RFC 8252).
 */
function checkRedirectUri(field: string, text: string, isPublic: boolean): void {
  const uri = parse(field, text);
  if (text.includes('#')) throw Invalid(`${field}: must not have a fragment`);
  if (uri.username !== '' || uri.password !== '') throw Invalid(`${field}: must not hold credentials`);
  if (uri.protocol === 'https:' && !(isPublic && loopbacks.has(uri.hostname))) return;
  if (uri.protocol === 'http:' && loopbacks.has(uri.hostname)) return;
  if (isPublic && isReverseDomain(uri)) return;
  const allowed = isPublic
    ? 'https, http on a loopback host, or a scheme like com.example.app'
    : 'https, or http on a loopback host';
  throw Invalid(`${field}: must be ${allowed}`);
}

/** The machine that the browser runs on. */
const loopbacks: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

const isReverseDomain = ({ protocol }: URL) => /^[a-z][a-z0-9+-]*(\.[a-z0-9+-]+)+:$/.test(protocol);

/** Programs on devices: their loopback port is any, and their users are asked each time. */
export const isNative = (client: {
  readonly public: boolean;
  readonly redirect_uris: readonly string[];
  readonly post_logout_redirect_uris: readonly string[];
}): boolean =>
  client.public &&
  [...client.redirect_uris, ...client.post_logout_redirect_uris].some((uri) => !uri.startsWith('https:'));

/** An absolute URI without a fragment (RFC 8707). */
function checkAudience(text: string): void {
  parse('audiences', text);
  if (text.includes('#')) throw Invalid('audiences: must not have a fragment');
}

function parse(field: string, text: string): URL {
  if (!URL.canParse(text)) throw Invalid(`${field}: must be an absolute URI`);
  return new URL(text);
}
