import type {
  Client,
  ClientInformation,
  ClientRegistrationRequest,
} from '../../../../generated/auth/types.ts';
import { Invalid } from '../../../lib/errors.ts';
import { checkClient, deviceGrantType } from './client-rules.ts';
import { scopesIn } from '../roles/granted-scopes.ts';
import { isGuarded } from '../directory/guarded-scopes.ts';

/** The metadata that a client registers about itself, in the form in which the service stores clients. */
export type RegisteredProfile = Omit<Client, 'id' | 'client_id' | 'app_id' | 'created_at' | 'updated_at'>;

/** Grants that an unknown client may request: a user approves each of them. */
const grants: readonly string[] = ['authorization_code', 'refresh_token', deviceGrantType];

/**
 * Builds the client that registers itself with this metadata. Absent members get the defaults of RFC 7591; the client cannot opt
 * out of PKCE or of asking users for consent.
 * @throws Invalid naming the first member that such a client must not set
 */
export function profileOf(metadata: ClientRegistrationRequest): RegisteredProfile {
  const { redirect_uris = [], grant_types = ['authorization_code'], response_types } = metadata;
  const unknown = grant_types.find((one) => !grants.includes(one));
  if (unknown !== undefined) throw Invalid(`grant_types: must be ${grants.join(', ')}, and not ${unknown}`);
  const granted = [...new Set(grant_types)] as Client['grant_types'];
  const answers = response_types ?? responseTypesOf(granted);
  if (answers.join() !== responseTypesOf(granted).join())
    throw Invalid('response_types: must be ["code"] with authorization_code, else []');
  const method = metadata.token_endpoint_auth_method ?? 'client_secret_basic';
  if (method === 'private_key_jwt')
    throw Invalid('token_endpoint_auth_method: private_key_jwt is not for clients that register themselves');
  const profile: RegisteredProfile = {
    name: metadata.client_name ?? nameOf(redirect_uris),
    logo_url: null,
    redirect_uris,
    post_logout_redirect_uris: metadata.post_logout_redirect_uris ?? [],
    scopes: metadata.scope === undefined ? ['openid', 'profile', 'email'] : scopesIn(metadata.scope),
    grant_types: granted,
    public: method === 'none',
    token_endpoint_auth_method: method,
    jwks: null,
    jwks_uri: null,
    dpop_bound_access_tokens: metadata.dpop_bound_access_tokens ?? false,
    skip_consent: false,
    require_pkce: true,
    access_token_ttl: 3_600,
    audiences: [],
    backchannel_logout_uri: metadata.backchannel_logout_uri ?? null,
    backchannel_logout_session_required: metadata.backchannel_logout_session_required ?? false,
    self_registered: true,
  };
  checkSelfRegistered(profile);
  checkClient(profile);
  return profile;
}

/** @throws Invalid if a self-registered client, which nobody vouches for, would get rights that require vouching. */
export function checkSelfRegistered({
  self_registered,
  scopes,
  grant_types,
  skip_consent,
}: Pick<Client, 'self_registered' | 'scopes' | 'grant_types' | 'skip_consent'>): void {
  if (!self_registered) return;
  const guarded = scopes.find(isGuarded);
  if (guarded !== undefined) throw Invalid(`scope: ${guarded} is not for clients that registered themselves`);
  if (grant_types.includes('client_credentials'))
    throw Invalid('grant_types: client_credentials is not for clients that registered themselves');
  if (skip_consent) throw Invalid('skip_consent: is not for clients that registered themselves');
}

/** The registration response that describes the client to itself. */
export const informationOf = (
  client: Client,
  {
    token,
    issuer,
    secret,
  }: { readonly token: string; readonly issuer: string; readonly secret?: string | undefined },
): ClientInformation => ({
  client_id: client.id,
  client_id_issued_at: Math.floor(Date.parse(client.created_at) / 1000),
  ...(secret !== undefined && { client_secret: secret, client_secret_expires_at: 0 }),
  client_name: client.name,
  redirect_uris: client.redirect_uris,
  post_logout_redirect_uris: client.post_logout_redirect_uris,
  grant_types: client.grant_types,
  response_types: responseTypesOf(client.grant_types),
  token_endpoint_auth_method: client.token_endpoint_auth_method,
  scope: client.scopes.join(' '),
  ...(client.backchannel_logout_uri !== null && {
    backchannel_logout_uri: client.backchannel_logout_uri,
    backchannel_logout_session_required: client.backchannel_logout_session_required,
  }),
  dpop_bound_access_tokens: client.dpop_bound_access_tokens,
  registration_access_token: token,
  registration_client_uri: `${issuer}/oauth2/register/${client.id}`,
});

const responseTypesOf = (granted: readonly string[]): string[] =>
  granted.includes('authorization_code') ? ['code'] : [];

/** A client without a name is named after the host of its first redirect URI. */
function nameOf([first]: readonly string[]): string {
  const host = first === undefined ? undefined : URL.parse(first)?.hostname;
  return host?.slice(0, 128) || 'A client without a name';
}

/** The client's name as users see it; nobody has checked the name of a self-registered client. */
export const shownName = ({ name, self_registered }: Pick<Client, 'name' | 'self_registered'>): string =>
  self_registered ? `${name} (unverified)` : name;
