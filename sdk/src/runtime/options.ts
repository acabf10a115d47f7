import type { Plinth } from '../services/index.ts';

/** The options by which a client reaches the platform. */
export type ClientOptions = Connection & Credentials & OnBehalf;

interface Connection {
  /** The address of the all-in-one server, such as `http://127.0.0.1:4000`. Each service is below it, under its name. */
  readonly baseUrl: string;
  /** Services that run alone, each with its own base URL: `{ authz: 'https://authz.internal' }`. */
  readonly serviceUrls?: { readonly [Service in keyof Plinth]?: string | undefined } | undefined;
  /** Sends the requests. Defaults to the platform's `fetch`. */
  readonly fetch?: ((request: Request) => Promise<Response>) | undefined;
  /** Milliseconds per attempt, 30,000 by default; `Infinity` for no limit. An event stream may be silent for as long. */
  readonly timeout?: number | undefined;
  /** How often a call that is safe to repeat is retried, 2 by default. */
  readonly retries?: number | undefined;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** The caller's credentials: one of the two, or neither for public operations. */
type Credentials =
  | {
      /** A root, session or access token. */
      readonly token?: string | undefined;
      readonly apiKey?: undefined;
    }
  | {
      /** A raw API key. */
      readonly apiKey?: string | undefined;
      readonly token?: undefined;
    };

/** On whose behalf root acts, for every call of a client or for a single call. */
export interface OnBehalf {
  /** Root only: the tenant to act in. */
  readonly tenant?: string | undefined;
  /** Root only: the app to act through. */
  readonly app?: string | undefined;
  /** Root only: the user to act for. */
  readonly user?: string | undefined;
  /** Root only: the subject to act for. */
  readonly subject?: string | undefined;
}

/** Options of a single call. They override the client's options. */
export interface RequestOptions extends OnBehalf {
  /** Ends the call, even between two attempts and in the middle of a list or an event stream. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds per attempt; `Infinity` for no limit. */
  readonly timeout?: number | undefined;
  /** How often to retry. */
  readonly retries?: number | undefined;
  /** Sent in addition to the client's headers. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * 1 to 255 visible ASCII characters: makes a creating call safe to repeat, by you and by the client. Without it, the client
   * generates one for each creating call, so that the client can retry that call.
   */
  readonly idempotencyKey?: string | undefined;
}

/** Options of an event stream. */
export interface EventOptions extends RequestOptions {
  /**
   * Whether to reconnect after the last received event whenever the stream ends or breaks; false by default. The stream then
   * lasts until the loop is left, the signal aborts, the server answers 204 or a call fails after all its retries.
   */
  readonly reconnect?: boolean | undefined;
}

/** The header of each option that says on whose behalf root acts. */
export const onBehalfHeaders = {
  tenant: 'X-Tenant-ID',
  app: 'X-App-ID',
  user: 'X-User-ID',
  subject: 'X-Subject-ID',
} as const;
