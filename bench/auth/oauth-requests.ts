import type { IssuedClient } from '../../generated/auth/types.ts';
import { call } from '../client.ts';
import type { Request } from '../load.ts';

/** The client of the peer, which stores the client itself. */
export const peerClient = {
  id: 'bench',
  secret: 'a-secret-of-the-benchmark-0123456789',
  scope: 'reports:read',
};
/** The resource for which the peer issues opaque tokens. */
export const opaqueResource = 'urn:bench:opaque';

/** The texts that the answers must contain. */
export const isToken = '"access_token":"';
export const isActive = '"active":true';

/** A provider, and a client of it with the scope of `peerClient`. */
export interface Party {
  readonly port: number;
  /** The paths of the token and introspection endpoints. */
  readonly token: string;
  readonly introspect: string;
  readonly id: string;
  readonly secret: string;
}

export async function ourParty(port: number): Promise<Party> {
  const base = '/auth/v1/auth/oauth2';
  const { client_id, client_secret } = await call<IssuedClient>(port, 'POST', `${base}/clients`, {
    name: 'Reports',
    grant_types: ['client_credentials'],
    redirect_uris: [],
    scopes: [peerClient.scope],
  });
  return {
    port,
    token: `${base}/token`,
    introspect: `${base}/introspect`,
    id: client_id,
    secret: client_secret!,
  };
}

export const peerParty = (port: number): Party => ({
  ...{ port, token: '/token', introspect: '/token/introspection' },
  ...{ id: peerClient.id, secret: peerClient.secret },
});

export const tokenRequest = (party: Party, resource?: string): Request =>
  form(party, party.token, {
    grant_type: 'client_credentials',
    scope: peerClient.scope,
    ...(resource !== undefined && { resource }),
  });

/** Returns introspection requests for `count` tokens issued for the resource. */
export async function introspections(party: Party, count: number, resource?: string): Promise<Request[]> {
  const { path, headers = {}, body } = tokenRequest(party, resource);
  const requests: Request[] = [];
  for (let n = 0; n < count; n++) {
    const response = await fetch(`http://127.0.0.1:${party.port}${path}`, {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/x-www-form-urlencoded' },
      body: body as string,
    });
    const { access_token } = (await response.json()) as { access_token?: string };
    if (access_token === undefined) throw new Error(`no token was issued: ${response.status}`);
    requests.push(form(party, party.introspect, { token: access_token }));
  }
  return requests;
}

const form = ({ id, secret }: Party, path: string, members: Record<string, string>): Request => ({
  path,
  headers: { Authorization: `Basic ${btoa(`${id}:${secret}`)}` },
  body: new URLSearchParams(members).toString(),
});
