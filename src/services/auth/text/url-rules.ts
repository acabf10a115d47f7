import { Invalid } from '../../../lib/errors.ts';
import { isWildHost } from '../../../lib/hosts.ts';

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** Returns a URL in its stored form. @throws Invalid if it is none, or not `https` in production */
export function cleanUrl(field: string, text: string, production: boolean): string {
  const url = URL.parse(text);
  if (!url || !['https:', 'http:'].includes(url.protocol) || url.username !== '' || url.password !== '')
    throw Invalid(`${field}: must be a URL like https://app.example.com/`);
  if (isWildHost(url)) throw Invalid(`${field}: must not hold a wildcard`);
  if (url.protocol === 'http:' && production && !loopback.test(url.hostname))
    throw Invalid(`${field}: must be https`);
  return url.href;
}
