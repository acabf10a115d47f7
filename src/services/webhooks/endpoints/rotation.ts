import type { RotatedSecret, SecretRotation } from '../../../../generated/webhooks/types.ts';
import { parseDuration } from '../../../lib/durations.ts';
import { Invalid } from '../../../lib/errors.ts';
import { newId } from '../../../lib/ids.ts';
import { newWebhookSecret } from '../../../lib/standard-webhooks.ts';
import type { Deps } from '../deps.ts';
import { type Named, told } from './endpoint-writes.ts';
import { endpointStore } from './endpoints.store.ts';
import { secretStore } from './secrets.store.ts';
import { checkSecret } from './secrets.ts';

const longestOverlapMs = 168 * 3_600_000;

/** Gives an endpoint a new secret; the one before signs as well until the overlap ends. */
export async function rotateSecret(
  { write, sealing }: Deps,
  { context, reach, ref }: Named,
  { secret = newWebhookSecret(), overlap }: SecretRotation,
): Promise<RotatedSecret> {
  checkSecret(secret);
  const overlapMs = parseDuration(overlap, 'overlap');
  if (overlapMs > longestOverlapMs) throw Invalid('overlap: must be from 0s to 168h');
  return await write(context, async ({ sql, emit }) => {
    const owner = await endpointStore(sql).lock(reach, ref);
    const secrets = secretStore(sql);
    const previous_valid_until = overlapMs > 0 ? await secrets.retire(owner, overlapMs) : null;
    if (previous_valid_until === null) await secrets.deleteAll(owner);
    await secrets.insert(owner, newId('sec'), sealing.sealSecret(owner, secret));
    const endpoint = await endpointStore(sql).get(reach, owner.id);
    emit('webhooks.endpoint.secret_rotated', endpoint, told(endpoint));
    return { secret, previous_valid_until };
  });
}
