import Bowser from 'bowser';
import type { Device } from '../../../generated/auth/types.ts';

/** What people recognise a device by, as far as its User-Agent tells. */
export function describeDevice(userAgent: string | null): Pick<Device, 'name' | 'type' | 'browser' | 'os'> {
  const found = userAgent ? Bowser.parse(userAgent) : undefined;
  const browser = nameOf(found?.browser.name);
  const os = nameOf(found?.os.name);
  const name = [browser, os].filter((part) => part !== null).join(' on ') || 'Unknown device';
  return { name, type: typeOf(found?.platform.type), browser, os };
}

/** What it does not know has an empty name there. */
const nameOf = (found: string | undefined): string | null => (found ? found.slice(0, 64) : null);

const typeOf = (type: string | undefined): Device['type'] =>
  type === 'desktop' || type === 'mobile' || type === 'tablet' ? type : 'unknown';
