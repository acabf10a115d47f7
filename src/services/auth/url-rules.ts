import { Invalid } from '../../lib/errors.ts';

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** An address as the service keeps it. @throws Invalid where it is none, or in production not `https`. */
export function cleanUrl(field: string, text: string, production: boolean): string {
  const url = URL.parse(text);
  if (!url || !['https:', 'http:'].includes(url.protocol) || url.username !== '' || url.password !== '')
    throw Invalid(`${field}: must be a URL like https://app.example.com/`);
  if (url.protocol === 'http:' && production && !loopback.test(url.hostname))
    throw Invalid(`${field}: must be https`);
  return url.href;
}
