import type { Discovery } from '../../../generated/auth/server.ts';
import type { JsonWebKey } from '../../../generated/auth/types.ts';
import type { Context } from '../../http/context.ts';
import type { SigningKeys } from './signing-keys.ts';

/** The keys with which tokens are verified, as `Discovery.jwks` answers them. */
export const jwks = ({ signingKeys }: { signingKeys: SigningKeys }) =>
  (async (_, { reply }) => {
    reply.header('Cache-Control', 'public, max-age=300');
    const { published } = await signingKeys.current();
    return { keys: published as JsonWebKey[] };
  }) satisfies Discovery<Context>['jwks'];
