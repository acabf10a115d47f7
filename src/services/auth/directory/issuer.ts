import type { SettingsOf } from '../../../lib/settings.ts';
import type { KnownApp } from './directory.ts';
import type { settings } from '../settings.ts';

/** The address that tokens and links name: the configured one, otherwise the public address. It has no trailing slash. */
export const issuerOf = (
  { issuer, basePath }: Pick<SettingsOf<typeof settings>, 'issuer' | 'basePath'>,
  publicUrl: string,
): string => (issuer === '' ? publicUrl + basePath : issuer.replace(/\/+$/, ''));

/** The path of an OAuth 2.0 issuer's metadata: the issuer's path follows the well-known one (RFC 8414, section 3.1). */
export const metadataPathOf = (issuer: string): string =>
  `/.well-known/oauth-authorization-server${new URL(issuer).pathname.replace(/\/+$/, '')}`;

/** The hosted page for each message that asks for an action. */
const pages = {
  verify_email: 'verify-email',
  reset_password: 'reset-password',
  invitation: 'invitation',
} as const satisfies Record<keyof KnownApp['settings']['links'], string>;

/** Returns the target of a message's link: the app's own page if it has one, otherwise the hosted page. */
export function linkOf(
  issuer: string,
  { id, settings: { links } }: Pick<KnownApp, 'id' | 'settings'>,
  kind: keyof typeof pages,
  token: string,
): string {
  const hosted = `${issuer}/pages/${pages[kind]}?token={token}&app_id=${encodeURIComponent(id)}`;
  return (links[kind] ?? hosted).replaceAll('{token}', encodeURIComponent(token));
}
