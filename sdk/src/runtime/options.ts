import type { Plinth } from '../services/index.ts';

/** How a client reaches the platform. */
export type ClientOptions = Connection & Credentials;

interface Connection {
  /** Where the all-in-one server listens, such as `http://127.0.0.1:4000`; each service is below it, under its name. */
  readonly baseUrl: string;
  /** Services that run alone, each with its own base URL: `{ authz: 'https://authz.internal' }`. */
  readonly serviceUrls?: { readonly [Service in keyof Plinth]?: string | undefined } | undefined;
  /** What sends the requests; the platform's `fetch` when absent. */
  readonly fetch?: ((request: Request) => Promise<Response>) | undefined;
  /**
   * Milliseconds for each try, 30,000 when absent; `Infinity` for none. An event stream may be silent for as long.
   */
  readonly timeout?: number | undefined;
  /** How often a call that may safely be repeated is tried again, 2 when absent. */
  readonly retries?: number | undefined;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Who is calling: one of the two, or neither for public operations. */
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

/** What may be said about a single call; it beats what the client was made with. */
export interface RequestOptions {
  /** Ends the call, also between two tries and in the middle of a list or an event stream. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds for each try; `Infinity` for none. */
  readonly timeout?: number | undefined;
  /** How often to try again. */
  readonly retries?: number | undefined;
  /** Sent besides the client's own. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** 1 to 255 visible ASCII characters: makes a creating call safe to repeat, by you and by the client. */
  readonly idempotencyKey?: string | undefined;
  /** Root only: the tenant to act in. */
  readonly tenant?: string | undefined;
  /** Root only: the app to act through. */
  readonly app?: string | undefined;
  /** Root only: the user to act for. */
  readonly user?: string | undefined;
  /** Root only: the subject to act for. */
  readonly subject?: string | undefined;
}

/** What may be said about an event stream. */
export interface EventOptions extends RequestOptions {
  /**
   * Whether to ask again, from the last event on, whenever the stream ends or breaks; false when absent. It then lasts
   * until the loop is left, the signal aborts, the server answers 204 or a call fails after all its tries.
   */
  readonly reconnect?: boolean | undefined;
}

/** The header of each option that is one. */
export const optionHeaders = {
  idempotencyKey: 'Idempotency-Key',
  tenant: 'X-Tenant-ID',
  app: 'X-App-ID',
  user: 'X-User-ID',
  subject: 'X-Subject-ID',
} as const;
