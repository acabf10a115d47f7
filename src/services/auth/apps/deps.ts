import type { CheckForm } from './forms.ts';
import type { OAuthClients } from './oauth-clients.ts';
import type { Deps as Above } from '../sessions/deps.ts';

/** Dependencies of the handlers in this folder and in those that build on it. */
export interface Deps extends Above {
  readonly checkForm: CheckForm;
  readonly oauthClients: OAuthClients;
}
