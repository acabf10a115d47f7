import Bowser from 'bowser';
import type { Device } from '../../../../generated/auth/types.ts';
import { withoutHidden } from '../../../lib/shown-text.ts';

/** Real ones are no longer. The time of the parser's expressions grows with the square of the input. */
const longestUserAgent = 512;

/** Describes a device so that its owner recognises it, as far as the User-Agent allows. */
export function describeDevice(userAgent: string | null): Pick<Device, 'name' | 'type' | 'browser' | 'os'> {
  const found = userAgent ? Bowser.parse(userAgent.slice(0, longestUserAgent)) : undefined;
  const browser = nameOf(found?.browser.name);
  const os = nameOf(found?.os.name);
  const name = [browser, os].filter((part) => part !== null).join(' on ') || 'Unknown device';
  return { name, type: typeOf(found?.platform.type), browser, os };
}

/** The parser returns an empty name for anything unknown. */
const nameOf = (found: string | undefined): string | null => withoutHidden(found ?? '').slice(0, 64) || null;

const typeOf = (type: string | undefined): Device['type'] =>
  type === 'desktop' || type === 'mobile' || type === 'tablet' ? type : 'unknown';
