import type { Deps } from './access/deps.ts';
import type { OAuthClients } from '../apps/oauth-clients.ts';
import { oidcStore } from '../directory/oidc.store.ts';
import { sha256 } from '../directory/tokens.ts';
import type { Write } from '../directory/writes.ts';

/** Ends a grant with all its codes and tokens, in every process. Returns its user and client, or undefined if it is over. */
export async function endGrant({ sql, changed }: Write, grantId: string) {
  const ended = await oidcStore(sql).deleteGrant(grantId, sha256(grantId));
  changed('grant', grantId);
  return ended;
}

/** Ends a grant on the provider's own initiative: a credential was used twice, or the user signed out. */
export async function endGrantOfClient(
  { write, oauthClients }: Pick<Deps, 'write'> & { readonly oauthClients: OAuthClients },
  clientId: string | undefined,
  grantId: string,
): Promise<void> {
  const client = clientId === undefined ? undefined : await oauthClients.find(clientId);
  // All grants of a deleted client have already ended.
  if (!client) return;
  const author = { tenant: client.tenant, app: client.app, actor: client.id };
  await write(author, async (tx) => void (await endGrant(tx, grantId)));
}
