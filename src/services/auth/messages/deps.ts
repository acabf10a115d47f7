import type { UserMessages } from './messages.ts';
import type { Deps as Above } from '../directory/deps.ts';

/** Dependencies of the handlers in this folder and in those that build on it. */
export interface Deps extends Above {
  readonly messages: UserMessages;
}
