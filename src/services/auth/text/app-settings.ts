import type { AppSettings } from '../../../../generated/auth/types.ts';
import { formatDuration, parseDuration } from '../../../lib/durations.ts';
import { Invalid } from '../../../lib/errors.ts';
import { isWildHost } from '../../../lib/hosts.ts';
import { cleanText } from './text-rules.ts';
import { cleanUrl } from './url-rules.ts';

/** A placeholder for the token when a link is checked. */
const sampleToken = 'sample-of-a-token';
const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * Returns the settings in their stored form. The existence of the default role is not checked here.
 * @throws Invalid naming the first member that breaks its rule
 */
export function cleanSettings<Given extends Partial<AppSettings>>(
  settings: Given,
  production: boolean,
): Given {
  const { session_ttl, refresh_ttl, allowed_origins, home_url, links, mail_from } = settings;
  return {
    ...settings,
    ...(session_ttl === undefined ? {} : { session_ttl: within('session_ttl', session_ttl, '1m', '24h') }),
    ...(refresh_ttl === undefined ? {} : { refresh_ttl: within('refresh_ttl', refresh_ttl, '1h', '2160h') }),
    ...(allowed_origins === undefined
      ? {}
      : { allowed_origins: [...new Set(allowed_origins.map(cleanOrigin))] }),
    ...(typeof home_url === 'string'
      ? { home_url: cleanUrl('settings.home_url', home_url, production) }
      : {}),
    ...(links === undefined ? {} : { links: checkLinks(links, production) }),
    ...(typeof mail_from === 'string'
      ? { mail_from: cleanText('settings.mail_from', mail_from) || null }
      : {}),
  };
}

function within(name: string, text: string, least: string, most: string): string {
  const field = `settings.${name}`;
  const duration = parseDuration(text, field);
  if (duration < parseDuration(least) || duration > parseDuration(most))
    throw Invalid(`${field}: must be from ${least} to ${most}`);
  return formatDuration(duration);
}

/** The origin as browsers send it: scheme and host in lower case, no default port. */
function cleanOrigin(text: string, index: number): string {
  const url = URL.parse(text);
  if (!url || url.username !== '' || url.password !== '' || url.pathname !== '/')
    throw Invalid(`settings.allowed_origins[${index}]: must be an origin like https://app.example.com`);
  if (isWildHost(url))
    throw Invalid(`settings.allowed_origins[${index}]: must not hold a wildcard: name each origin`);
  return url.origin;
}

function checkLinks(links: AppSettings['links'], production: boolean): AppSettings['links'] {
  for (const [name, link] of Object.entries(links))
    if (link !== null) checkLink(`settings.links.${name}`, link, production);
  return links;
}

function checkLink(field: string, link: string, production: boolean): void {
  const url = URL.parse(link.replaceAll('{token}', sampleToken));
  if (!url || url.username !== '' || url.password !== '')
    throw Invalid(`${field}: must be a URL with {token} in it`);
  if (isWildHost(url)) throw Invalid(`${field}: must not hold a wildcard`);
  if (url.host.includes(sampleToken)) throw Invalid(`${field}: {token} must not be in the host`);
  checkScheme(field, url, production);
}

function checkScheme(field: string, url: URL, production: boolean): void {
  if (url.protocol === 'https:' || !production || loopback.test(url.hostname)) return;
  throw Invalid(`${field}: must be https`);
}
