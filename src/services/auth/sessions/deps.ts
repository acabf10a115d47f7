import type { Principals } from './principals.ts';
import type { Deps as Above } from '../webhooks/deps.ts';

/** Dependencies of the handlers in this folder and in those that build on it. */
export interface Deps extends Above {
  readonly principals: Principals;
}
