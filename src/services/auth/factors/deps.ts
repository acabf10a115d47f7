import type { Passwords } from './passwords.ts';
import type { Deps as Above } from '../apps/deps.ts';

/** Dependencies of the handlers in this folder and in those that build on it. */
export interface Deps extends Above {
  readonly passwords: Passwords;
}
