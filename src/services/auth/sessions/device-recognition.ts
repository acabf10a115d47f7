import type { Device } from '../../../../generated/auth/types.ts';
import { newId } from '../../../lib/ids.ts';
import { describeDevice } from '../text/device-names.ts';
import { deviceStore } from './devices.store.ts';
import { issueToken, readToken } from '../directory/tokens.ts';
import type { Visit } from '../directory/visit.ts';
import type { Write } from '../directory/writes.ts';

export interface RecognizedDevice {
  readonly device: Device;
  /** Whether the device's token proved it; a User-Agent proves nothing. */
  readonly proven: boolean;
  /** Set for a new device: the token by which it will be recognised. */
  readonly token: string | undefined;
}

/** Returns the device of a sign-in, recorded as seen; a new one if no similar device is known. */
export async function recognizeDevice(
  { sql, tenant, emit, secured, comesFrom }: Write,
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
  comesFrom({ ip, userAgent });
  // Both statements are sent at once and run in this order.
  const [known, device] = await Promise.all([
    store.anyBefore(tenant, userId),
    store.insert({
      ...describeDevice(userAgent),
      id: newId('dev'),
      tenant_id: tenant,
      user_id: userId,
      ip_address: ip,
      user_agent: userAgent ?? '',
      token_hash: hash,
    }),
  ]);
  // The device on which the account was opened needs no notice.
  if (known) secured({ userId, change: 'new_device' });
  emit('auth.device.registered', device.id, { user_id: userId, name: device.name });
  return { device, proven: false, token };
}
