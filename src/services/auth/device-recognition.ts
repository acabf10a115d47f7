import type { Device } from '../../../generated/auth/types.ts';
import { newId } from '../../lib/ids.ts';
import { describeDevice } from './device-names.ts';
import { deviceStore } from './devices.store.ts';
import { issueToken, readToken } from './tokens.ts';
import type { Write } from './writes.ts';

/** From where somebody signs in. */
export interface Visit {
  readonly ip: string | null;
  readonly userAgent: string | null;
  /** What the device was given when it was new. */
  readonly deviceToken: string | undefined;
}

export interface RecognizedDevice {
  readonly device: Device;
  /** Whether its token proved it, rather than its User-Agent, which proves nothing. */
  readonly proven: boolean;
  /** For a device that is new: the token by which it will be recognised. */
  readonly token: string | undefined;
}

/** The device of a sign-in, noted as seen; a new one where nothing like it is known. */
export async function recognizeDevice(
  { sql, tenant, emit }: Write,
  userId: string,
  tag: string,
  { ip, userAgent, deviceToken }: Visit,
): Promise<RecognizedDevice> {
  const store = deviceStore(sql);
  const presented = deviceToken === undefined ? undefined : readToken('dvt', deviceToken);
  const proven = presented && (await store.seen(tenant, userId, presented.hash, ip));
  if (proven) return { device: proven, proven: true, token: undefined };
  const similar = await store.similar(tenant, userId, userAgent ?? '', ip);
  if (similar) return { device: similar, proven: false, token: undefined };
  const { token, hash } = issueToken('dvt', tag);
  const device = await store.insert({
    ...describeDevice(userAgent),
    id: newId('dev'),
    tenant_id: tenant,
    user_id: userId,
    ip_address: ip,
    user_agent: userAgent ?? '',
    token_hash: hash,
  });
  emit('auth.device.registered', device.id, { user_id: userId, name: device.name });
  return { device, proven: false, token };
}
