import type { TokenRequest } from '../../../../generated/auth/types.ts';
import { deviceGrantType } from '../apps/client-rules.ts';
import type { Deps } from './access/deps.ts';
import { deviceGrantStore, pollSeconds } from './device-grant.store.ts';
import type { OidcAnswer } from './oidc-requests.ts';
import { sha256 } from '../directory/tokens.ts';

/** Returns the response to a device that polls too soon; undefined if it waited long enough. */
export async function slowedDown(
  { db }: Pick<Deps, 'db'>,
  { grant_type, device_code }: TokenRequest,
): Promise<OidcAnswer | undefined> {
  if (grant_type !== deviceGrantType || device_code === undefined) return undefined;
  if (!(await deviceGrantStore(db.sql).asksTooSoon(sha256(device_code)))) return undefined;
  const error_description = `wait ${pollSeconds} seconds longer between two requests from now on`;
  return { status: 400, headers: {}, body: JSON.stringify({ error: 'slow_down', error_description }) };
}
