import type { Discovery } from '../../../../generated/auth/server.ts';
import type { JsonWebKey } from '../../../../generated/auth/types.ts';
import type { Context } from '../../../http/context.ts';
import { isConnectionError } from '../../../db/errors.ts';
import type { KeySet, SigningKeys } from './keys/signing-keys.ts';

/**
 * Without the database, returns the last known set: a key is published a day before it signs, so verifiers do not need a newer
 * set meanwhile.
 */
async function currentOrKnown(signingKeys: SigningKeys): Promise<KeySet> {
  try {
    return await signingKeys.current();
  } catch (error) {
    const known = isConnectionError(error) ? signingKeys.known() : undefined;
    if (!known) throw error;
    return known;
  }
}

/** The verification keys of tokens, as `Discovery.jwks` returns them. */
export const jwks = ({ signingKeys }: { signingKeys: SigningKeys }) =>
  (async (_, { reply }) => {
    reply.header('Cache-Control', 'public, max-age=300');
    const { published } = await currentOrKnown(signingKeys);
    return { keys: published as JsonWebKey[] };
  }) satisfies Discovery<Context>['jwks'];
