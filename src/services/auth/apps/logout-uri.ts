import { Invalid } from '../../../lib/errors.ts';
import type { Outbound } from '../../../lib/outbound.ts';

/** @throws Invalid if a client's logout notifications would go to an address that must not be reached. */
export function checkLogoutUri(
  outbound: Pick<Outbound, 'judge'>,
  { backchannel_logout_uri: uri }: { readonly backchannel_logout_uri?: string | null | undefined },
): void {
  const problem = typeof uri === 'string' ? outbound.judge(uri) : undefined;
  if (problem !== undefined) throw Invalid(`backchannel_logout_uri: ${problem}`);
}
