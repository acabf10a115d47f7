import type { SettingsOf } from '../../lib/settings.ts';
import type { KnownApp } from './directory.ts';
import type { settings } from './settings.ts';

/** The public address of the service: as it is set, else where this server listens. Without a slash at its end. */
export function issuerOf(
  {
    issuer,
    host,
    port,
    basePath,
  }: Pick<SettingsOf<typeof settings>, 'issuer' | 'host' | 'port' | 'basePath'>,
  prefix: string,
): string {
  if (issuer !== '') return issuer.replace(/\/+$/, '');
  const name = host.includes(':') ? `[${host}]` : host;
  return `http://${name}:${port}${prefix}${basePath}`;
}

/** The hosted page of each message that asks for something. */
const pages = {
  verify_email: 'verify-email',
  reset_password: 'reset-password',
  invitation: 'invitation',
} as const satisfies Record<keyof KnownApp['settings']['links'], string>;

/** Where a message leads: the app's own page where it has one, else the hosted one. */
export function linkOf(
  issuer: string,
  { settings: { links } }: Pick<KnownApp, 'settings'>,
  kind: keyof typeof pages,
  token: string,
): string {
  return (links[kind] ?? `${issuer}/pages/${pages[kind]}?token={token}`).replaceAll(
    '{token}',
    encodeURIComponent(token),
  );
}
