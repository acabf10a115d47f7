import type { Client } from '../../../../generated/auth/types.ts';
import { Invalid } from '../../../lib/errors.ts';
import { isWildHost } from '../../../lib/hosts.ts';

/** The grant type by which a device requests tokens (RFC 8628). */
export const deviceGrantType = 'urn:ietf:params:oauth:grant-type:device_code' as const;

/** The members that the rules for a client read. */
export type ClientProfile = Pick<
  Client,
  'redirect_uris' | 'post_logout_redirect_uris' | 'scopes' | 'grant_types' | 'audiences' | 'public'
> &
  Partial<Pick<Client, 'backchannel_logout_uri' | 'backchannel_logout_session_required'>>;

/** @throws Invalid naming the first member that such a client cannot have. */
export function checkClient(client: ClientProfile & { require_pkce?: boolean | undefined }): void {
  for (const uri of client.redirect_uris) checkRedirectUri('redirect_uris', uri, client.public);
  for (const uri of client.post_logout_redirect_uris)
    checkRedirectUri('post_logout_redirect_uris', uri, client.public);
  client.audiences.forEach(checkAudience);
  const grants = new Set(client.grant_types);
  if (grants.has('authorization_code') && client.redirect_uris.length === 0)
    throw Invalid('redirect_uris: at least one is needed with authorization_code');
  if (grants.has('refresh_token') && !grants.has('authorization_code') && !grants.has(deviceGrantType))
    throw Invalid(`grant_types: refresh_token needs authorization_code or ${deviceGrantType}`);
  if (grants.has('client_credentials') && client.public)
    throw Invalid('grant_types: client_credentials is not for public clients');
  if (client.public && client.require_pkce === false)
    throw Invalid('require_pkce: public clients always use it');
  if (client.backchannel_logout_session_required && !client.backchannel_logout_uri)
    throw Invalid('backchannel_logout_session_required: needs a backchannel_logout_uri');
}

/**
 * Checks a URI that a browser may be sent to: `https`; `http` on the browser's own machine, which needs no certificate; and, for
 * public clients, a scheme that is a reversed domain name, by which phones tell programs apart (RFC 8252).
 */
function checkRedirectUri(field: string, text: string, isPublic: boolean): void {
  const uri = parse(field, text);
  if (text.includes('#')) throw Invalid(`${field}: must not have a fragment`);
  if (uri.username !== '' || uri.password !== '') throw Invalid(`${field}: must not hold credentials`);
  if (text.includes('*') || isWildHost(uri))
    throw Invalid(`${field}: must not hold a wildcard: register each address`);
  const written = canonical(uri);
  if (text !== written && text !== withoutRoot(written))
    throw Invalid(`${field}: must be written as ${written}`);
  if (uri.protocol === 'https:' && !(isPublic && loopbacks.has(uri.hostname))) return;
  if (uri.protocol === 'http:' && loopbacks.has(uri.hostname)) return;
  if (isPublic && isReverseDomain(uri)) return;
  const allowed = isPublic
    ? 'https, http on a loopback host, or a scheme like com.example.app'
    : 'https, or http on a loopback host';
  throw Invalid(`${field}: must be ${allowed}`);
}

/**
 * Returns the address as browsers write it, without the trailing dot of a host name. Addresses are compared as text, and another
 * spelling, such as a numeric host or a default port, would show users a different address from the one their browser is sent to.
 */
function canonical(uri: URL): string {
  const url = new URL(uri);
  if (url.hostname.endsWith('.')) url.hostname = url.hostname.slice(0, -1);
  return url.href;
}

/** An address without a path means the root path. */
const withoutRoot = (href: string) => href.replace(/^([a-z]+:\/\/[^/]+)\/(?=$|\?)/, '$1');

/** Host names of the machine that the browser runs on. */
const loopbacks: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

const isReverseDomain = ({ protocol }: URL) => /^[a-z][a-z0-9+-]*(\.[a-z0-9+-]+)+:$/.test(protocol);

/** Whether the client is a program on a device: it may use any loopback port, and its users are asked for consent each time. */
export const isNative = (client: {
  readonly public: boolean;
  readonly redirect_uris: readonly string[];
  readonly post_logout_redirect_uris: readonly string[];
}): boolean =>
  client.public &&
  [...client.redirect_uris, ...client.post_logout_redirect_uris].some((uri) => !uri.startsWith('https:'));

/** Whether the client authenticates with a secret. */
export const hasSecret = ({
  token_endpoint_auth_method: method,
}: Pick<Client, 'token_endpoint_auth_method'>): boolean =>
  method === 'client_secret_basic' || method === 'client_secret_post';

/** Checks for an absolute URI without a fragment (RFC 8707). */
function checkAudience(text: string): void {
  parse('audiences', text);
  if (text.includes('#')) throw Invalid('audiences: must not have a fragment');
}

function parse(field: string, text: string): URL {
  if (!URL.canParse(text)) throw Invalid(`${field}: must be an absolute URI`);
  return new URL(text);
}
