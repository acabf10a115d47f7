import type { KnownApp } from './directory.ts';
import type { OAuthClient } from './oauth-clients.ts';

/** An authorization that waits for a person. */
export interface Interaction {
  readonly uid: string;
  readonly prompt: 'login' | 'consent';
  readonly client: OAuthClient;
  readonly app: KnownApp;
  readonly tenant: string;
  /** Who is signed in to the browser; null before. */
  readonly userId: string | null;
  /** What the client asks for now. */
  readonly scopes: readonly string[];
  readonly redirectUri: string;
  readonly loginHint: string | null;
  /** Of the organization whose branding the pages take. */
  readonly orgId: string | null;
}

/** Where the browser goes next, with the cookies that the provider wants it to have. */
export interface GoesOn {
  readonly location: string;
  readonly cookies: readonly string[];
}

/** The provider's side of the hosted pages. */
export interface Interactions {
  /**
   * Undefined where there is no such interaction, it is over, or the browser that asks is not the one that began it.
   * `cookie` is the request's header.
   */
  find(uid: string, cookie: string | undefined): Promise<Interaction | undefined>;
  /** `methods` are the ways that proved it (RFC 8176), such as `pwd`, `otp`, `sms`. */
  signedIn(interaction: Interaction, userId: string, methods: readonly string[]): Promise<GoesOn>;
  consented(interaction: Interaction): Promise<GoesOn>;
  /** The client is told `access_denied`. */
  aborted(interaction: Interaction): Promise<GoesOn>;
}
