import type { Deliveries } from './deliveries.ts';
import type { Deps as Above } from '../messages/deps.ts';

/** Dependencies of the handlers in this folder and in those that build on it. */
export interface Deps extends Above {
  readonly deliveries: Deliveries;
}
