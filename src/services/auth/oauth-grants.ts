import type { Deps } from './deps.ts';
import type { OAuthClients } from './oauth-clients.ts';
import { oidcStore } from './oidc.store.ts';
import { sha256 } from './tokens.ts';
import type { Write } from './writes.ts';

/** Ends a grant with all codes and tokens that come of it, in every process. Answers whose it was; undefined where it is over. */
export async function endGrant({ sql, changed }: Write, grantId: string) {
  const ended = await oidcStore(sql).deleteGrant(grantId, sha256(grantId));
  changed('grant', grantId);
  return ended;
}

/** The same on the provider's own account: something was used twice, or the user signed out. */
export async function endGrantOfClient(
  { write, oauthClients }: Pick<Deps, 'write'> & { readonly oauthClients: OAuthClients },
  clientId: string | undefined,
  grantId: string,
): Promise<void> {
  const client = clientId === undefined ? undefined : await oauthClients.find(clientId);
  // With the client all of its grants have ended.
  if (!client) return;
  const author = { tenant: client.tenant, app: client.app, actor: client.id };
  await write(author, async (tx) => void (await endGrant(tx, grantId)));
}
