import type { KoaContextWithOIDC } from 'oidc-provider';
import type { Me } from '../../../../generated/auth/server.ts';
import type { Consent } from '../../../../generated/auth/types.ts';
import type { Database } from '../../../db/index.ts';
import type { Context } from '../../../http/context.ts';
import { NotFound } from '../../../lib/errors.ts';
import { shownName } from '../apps/client-metadata.ts';
import { authorOf, userOfCaller } from '../directory/app-context.ts';
import { consentStore } from './consents.store.ts';
import type { Deps } from './access/deps.ts';
import { isOidc, scopesIn } from '../roles/granted-scopes.ts';
import { refuseImpersonation } from '../sessions/impersonation.ts';
import { endGrant } from './oauth-grants.ts';

/** Maximum number of consents in a list. */
const mostConsents = 200;

/** The user's grants to OAuth clients, newest first. */
export const consentsOf =
  ({ sql }: Pick<Database, 'sql'>) =>
  async (tenant: string, userId: string): Promise<Consent[]> => {
    const consents = await consentStore(sql).list(tenant, userId, mostConsents);
    return consents.map(({ name, self_registered, ...consent }) => ({
      ...consent,
      client_name: shownName({ name, self_registered }),
    }));
  };

/** Consents: what users allowed clients to do for them. */
export const consents = (deps: Deps) =>
  ({
    async consents(_request, context) {
      const { app, userId } = await userOfCaller(deps, context);
      return { consents: await consentsOf(deps.db)(app.tenant, userId) };
    },

    async revokeConsent({ clientId }, context) {
      refuseImpersonation(context);
      const { app, userId } = await userOfCaller(deps, context);
      return deps.write(authorOf(context, app), async (tx) => {
        const grants = await consentStore(tx.sql).delete({ tenant: tx.tenant, userId, clientId });
        if (!grants) throw NotFound('consent');
        for (const grant of grants) await endGrant(tx, grant);
        tx.emit('auth.consent.revoked', clientId, { user_id: userId, client_id: clientId });
        return { status: 'revoked' as const };
      });
    },
  }) satisfies Pick<Me<Context>, 'consents' | 'revokeConsent'>;

type Grant = InstanceType<KoaContextWithOIDC['oidc']['provider']['Grant']>;

/**
 * Returns the session's grant for the client, extended by all scopes that need no question: all requested ones for a client that
 * skips consent, otherwise those the user allowed before. Returns undefined when there is none.
 */
export async function existingGrant(
  { db, oauthClients }: Pick<Deps, 'db' | 'oauthClients'>,
  { oidc }: KoaContextWithOIDC,
): Promise<Grant | undefined> {
  const userId = oidc.account!.accountId;
  const client = await oauthClients.find(oidc.client!.clientId);
  if (!client) return undefined;
  const known = await knownGrant(oidc, userId, client.id);
  const grant = known ?? new oidc.provider.Grant({ accountId: userId, clientId: client.id });
  const asked = scopesIn(oidc.params?.['scope'] as string | undefined).filter((scope) =>
    client.scopes.includes(scope),
  );
  const allowed = client.skip_consent
    ? asked
    : await consentStore(db.sql).scopes({ tenant: client.tenant, userId, clientId: client.id });
  const added = extend(
    grant,
    asked.filter((scope) => allowed.includes(scope)),
    oidc.resourceServers ?? {},
  );
  if (!added) return known;
  await grant.save();
  return grant;
}

async function knownGrant(oidc: KoaContextWithOIDC['oidc'], userId: string, clientId: string) {
  const id = oidc.session!.grantIdFor(clientId);
  const grant = id === undefined ? undefined : await oidc.provider.Grant.find(id);
  return grant?.accountId === userId && grant.clientId === clientId ? grant : undefined;
}

/** Extends the grant. Returns whether it holds more than before. */
function extend(
  grant: Grant,
  scopes: readonly string[],
  servers: Readonly<Record<string, { readonly scopes: ReadonlySet<string> }>>,
): boolean {
  const missing = (held: string, wanted: string[]) => {
    const known = scopesIn(held);
    return wanted.filter((scope) => !known.includes(scope));
  };
  const claims = missing(grant.getOIDCScope(), scopes.filter(isOidc));
  if (claims.length > 0) grant.addOIDCScope(claims);
  let extended = claims.length > 0;
  for (const [resource, { scopes: offered }] of Object.entries(servers)) {
    const rights = missing(
      grant.getResourceScope(resource),
      scopes.filter((scope) => offered.has(scope)),
    );
    if (rights.length === 0) continue;
    grant.addResourceScope(resource, rights);
    extended = true;
  }
  return extended;
}
