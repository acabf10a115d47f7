import type { AccessTokens } from './access-tokens.ts';
import type { Proofs } from './dpop.ts';
import type { Deps as Above } from '../keys/deps.ts';

/** Dependencies of the handlers in this folder and in those that build on it. */
export interface Deps extends Above {
  readonly accessTokens: AccessTokens;
  readonly proofs: Proofs;
}
