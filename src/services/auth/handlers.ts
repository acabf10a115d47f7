import { accounts } from './signin/accounts.ts';
import { admin } from './users/admin.ts';
import { apps } from './apps/apps.ts';
import { branding } from './apps/branding.ts';
import { clientRegistration } from './oauth/client-registration.ts';
import { clients } from './apps/clients.ts';
import { consents, consentsOf } from './oauth/consents.ts';
import { deviceGrant } from './oauth/device-grant.ts';
import { devices } from './sessions/devices.ts';
import { discovery } from './oauth/discovery.ts';
import { forms } from './apps/forms.ts';
import { createInteractions } from './oauth/interactions.ts';
import { invitations } from './organizations/invitations.ts';
import { me } from './users/me.ts';
import { members } from './organizations/members.ts';
import { mfa } from './signin/mfa.ts';
import { oauth } from './oauth/oauth.ts';
import { createOidcProvider } from './oauth/oidc-provider.ts';
import { organizations } from './organizations/organizations.ts';
import { mailbox } from './hosted/mailbox.ts';
import { inOwnLook } from './hosted/branded-errors.ts';
import { pages } from './hosted/pages.ts';
import { phone } from './signin/phone.ts';
import { roles } from './roles/roles.ts';
import { sessions } from './sessions/sessions.ts';
import { signingKeys } from './oauth/keys/signing-keys.ts';
import { teams } from './organizations/teams.ts';
import { tokens } from './oauth/access/token-resolution.ts';
import { users } from './users/users.ts';
import { webhooks } from './webhooks/webhooks.ts';
import { limitedVisits } from './limits/visits.ts';
import type { Parts } from './parts.ts';

/** All handlers of the service, by the interfaces of its contract. */
export function handlersOf(parts: Parts) {
  const oauthParts = { ...parts, oidc: createOidcProvider(parts) };
  return {
    Accounts: accounts(parts),
    Admin: admin(parts),
    Apps: apps(parts),
    Branding: branding(parts),
    ClientRegistration: clientRegistration(parts),
    Clients: clients(parts),
    DeviceGrant: limitedVisits(
      inOwnLook(deviceGrant(oauthParts), parts, ['page', 'send', 'resume']),
      parts.limits,
      ['authorize'],
    ),
    Devices: devices(parts),
    Discovery: limitedVisits(discovery(oauthParts), parts.limits),
    Forms: forms(parts),
    Invitations: invitations(parts),
    Me: { ...me({ ...parts, consentsOf: consentsOf(parts.db) }), ...consents(parts) },
    Members: members(parts),
    Mfa: mfa(parts),
    OAuth: limitedVisits(inOwnLook(oauth(oauthParts), parts, pagesOfProvider), parts.limits, callsOfPrograms),
    Organizations: organizations(parts),
    Outbox: limitedVisits(mailbox(parts), parts.limits, ['list', 'get', 'clear']),
    Pages: limitedVisits(pages(parts, createInteractions(parts, oauthParts.oidc)), parts.limits),
    Phone: phone(parts),
    Roles: roles(parts),
    Sessions: sessions(parts),
    SigningKeys: signingKeys(parts),
    Teams: teams(parts),
    Tokens: tokens(parts),
    Users: users(parts),
    Webhooks: webhooks(parts),
  };
}

/** What browsers open. */
const pagesOfProvider = [
  'authorize',
  'postAuthorize',
  'resume',
  'logout',
  'postLogout',
  'confirmLogout',
  'loggedOut',
] as const;

/** These operations have limits of their own, and a revocation is never refused. */
const callsOfPrograms = ['token', 'par', 'introspect', 'revoke', 'userinfo', 'postUserinfo'] as const;
