import type { SigningKeys } from './signing-keys.ts';
import type { Deps as Above } from '../../factors/deps.ts';

/** Dependencies of the handlers in this folder and in those that build on it. */
export interface Deps extends Above {
  readonly signingKeys: SigningKeys;
}
