import type { EventSelector } from '../../../../generated/auth/types.ts';

/** The name of an event of the service. */
export type EventType = Exclude<EventSelector, '*' | `${string}.*`>;

/** What an event causes besides being published. */
interface Consequence {
  /** Whether the event changes how its subject's account reads: every process then drops its cached copies of the account. */
  readonly tellsOfAccount: boolean;
}

const plain: Consequence = { tellsOfAccount: false };

/** Every event of the service. An account shows its user's last sign-in, so a sign-in also changes how it reads. */
export const events: Readonly<Record<EventType, Consequence>> = {
  'user.created': plain,
  'user.updated': { tellsOfAccount: true },
  'user.deleted': plain,
  'user.email_verified': { tellsOfAccount: true },
  'user.banned': { tellsOfAccount: true },
  'user.unbanned': { tellsOfAccount: true },
  'auth.signin': { tellsOfAccount: true },
  'auth.signin_failed': plain,
  'auth.signout': plain,
  'auth.password_reset': plain,
  'auth.password_changed': plain,
  'auth.refresh_reused': plain,
  'auth.mfa_challenged': plain,
  'auth.mfa_enabled': plain,
  'auth.mfa_disabled': plain,
  'auth.impersonated': plain,
  'auth.session.created': plain,
  'auth.session.revoked': plain,
  'auth.device.registered': plain,
  'auth.device.trusted': plain,
  'auth.role.created': plain,
  'auth.role.updated': plain,
  'auth.role.deleted': plain,
  'auth.role.assigned': plain,
  'auth.role.unassigned': plain,
  'auth.organization.created': plain,
  'auth.organization.updated': plain,
  'auth.organization.deleted': plain,
  'auth.organization.member_added': plain,
  'auth.organization.member_updated': plain,
  'auth.organization.member_removed': plain,
  'auth.organization.invited': plain,
  'auth.client.created': plain,
  'auth.client.updated': plain,
  'auth.client.deleted': plain,
  'auth.consent.granted': plain,
  'auth.consent.revoked': plain,
  'auth.app.created': plain,
  'auth.app.updated': plain,
  'auth.app.deleted': plain,
  'auth.signing_key.rotated': plain,
  'auth.webhook.test': plain,
};
