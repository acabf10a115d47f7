import type { AdapterPayload } from 'oidc-provider';
import type { Deps } from './access/deps.ts';

const purpose = 'auth/device-codes/v1';

/**
 * A device code is a secret that is found by its hash. It is stored sealed where the library must read it again to get from the
 * user to the device.
 */
export function sealedDevice(
  { sealer }: Pick<Deps, 'sealer'>,
  model: string,
  id: string,
  payload: AdapterPayload,
): AdapterPayload {
  const seal = (code: string) => sealer.seal(purpose, '', code).toString('base64url');
  if (model === 'DeviceCode') return { ...payload, sealed_id: seal(id) };
  const code = payload['deviceCode'];
  return typeof code === 'string' ? { ...payload, deviceCode: seal(code) } : payload;
}

/** Opens the sealed code into the library's format. */
export function openDevice({ sealer }: Pick<Deps, 'sealer'>, stored: AdapterPayload): AdapterPayload {
  const open = (box: string) => sealer.open(purpose, '', Buffer.from(box, 'base64url')).toString();
  const { sealed_id: sealed, ...payload } = stored;
  if (typeof sealed === 'string') return { ...payload, jti: open(sealed) };
  const code = payload['deviceCode'];
  return typeof code === 'string' ? { ...payload, deviceCode: open(code) } : payload;
}
