import type { ActivePrincipal } from '../../../generated/auth/types.ts';

/** Whom an access token of the OAuth provider stands for; undefined for one that is not good. */
export type ResolveAccessToken = (token: string) => Promise<Omit<ActivePrincipal, 'cache_ms'> | undefined>;
