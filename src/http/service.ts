import type { Logger } from 'pino';
import type { Database } from '../db/index.ts';
import type { DomainError } from '../lib/errors.ts';
import type { Sealer } from '../lib/seal.ts';
import type { SettingsOf, SettingsTable } from '../lib/settings.ts';
import type { ResolveToken } from './access-token.ts';
import type { BasePath } from './base-path.ts';
import type { Context } from './context.ts';
import type { ResolveSession } from './credentials.ts';
import type { ErrorPage } from './failure.ts';

/**
 * What a service's `index.ts` exports: its name, where its migrations are, the settings it reads and how to build it.
 * `create` runs once per process, after the migrations; it may prepare what the handlers need, but background work
 * belongs into `start`.
 */
export interface ServiceModule<Declared extends SettingsTable = SettingsTable> {
  /** The folder, the schema, the first part of its scopes and of its path. */
  readonly name: string;
  /** Folder of its `.sql` files. */
  readonly migrations: URL;
  /**
   * The interfaces of its contract that are built, or single operations by id; all without it. The others are neither mounted
   * nor documented, and the service is served only where it is named.
   */
  readonly built?: readonly string[];
  /** What it reads from the environment: `PLINTH_<SERVICE>_…`. */
  readonly settings: Declared;
  /** Where its paths begin, if not as the contract says. */
  basePath?(settings: SettingsOf<Declared>): BasePath;
  create(deps: ServiceDeps<SettingsOf<Declared>>): Service | Promise<Service>;
}

/** What the composition hands to a service. */
export interface ServiceDeps<Settings = unknown> {
  readonly db: Database;
  readonly settings: Settings;
  /** Encrypts what has to be read again before it is stored. */
  readonly sealer: Sealer;
  /** Whether the server is said to be in production (`NODE_ENV`). */
  readonly production: boolean;
  /** Whether addresses that users give may be private ones and plain `http`. */
  readonly allowPrivateTargets: boolean;
  /** What stands before the service's paths: `/<service>`, or nothing where it is alone. */
  readonly prefix: string;
  /** Lines carry the service's name. */
  readonly log: Logger;
  /** The other services, each by its generated interfaces. */
  readonly ports: Ports;
}

/**
 * A service that runs. Handlers are grouped as the contract groups them: `{ Roles: roles(deps), … }`; at the start the
 * runtime checks that every operation has its handler and every handler its operation.
 */
export interface Service {
  readonly handlers: Handlers;
  /**
   * The documented envelope of an error: the JSON body. `status` is the HTTP status that it travels with, `operation` the id of
   * what failed.
   */
  encodeError(error: DomainError, status: number, operation?: string): unknown;
  /** The same for people, where the operation documents a page for the status. */
  errorPage?(error: DomainError, status: number): ErrorPage;
  /** Begins background work; called after all services are created, not called in processes that only migrate. */
  start?(): void | Promise<void>;
  /** Ends background work; called after the last request in flight was answered. */
  stop?(): void | Promise<void>;
  /** Whether pages of this origin may call the service, besides those that the configuration names. */
  allowsOrigin?(origin: string): boolean;
  /** Whom a session token stands for; only the service that issues them knows. */
  readonly ofSession?: ResolveSession;
  /** Whom an access token stands for; the same. */
  readonly ofAccessToken?: ResolveToken;
}

/**
 * An operation's implementation. It gets the validated request (path, query and header parameters by wire name, the
 * body as `body`) and answers by its return value:
 * - JSON operations: the value; nothing for a 204;
 * - `text/event-stream`: an `AsyncIterable<ServerSentEvent>`. What is thrown before it is returned becomes an error
 *   response; what is thrown while it runs ends the stream with an `error` event;
 * - any other content type: text, bytes, or an `AsyncIterable<Uint8Array>`.
 * Where several content types are documented, it is the first, or the one that the handler says:
 * `reply.header('Content-Type', …)`. On HEAD nothing is returned; headers say all.
 * A request body that is neither JSON nor a form arrives as an `AsyncIterable<Uint8Array>` that throws `TooLarge`, empty
 * where there is none, in the encoding in which it was sent; `Content-Type` in the request says what it is.
 */
export type Handler = (request: never, context: Context) => unknown;

/** Handlers by interface (`Roles`) and method (`create`). */
export type Handlers = Readonly<Record<string, Readonly<Record<string, Handler>>>>;

/** Other services by name: local handlers, or the SDK client of a remote deployment; the caller's context goes along. */
export type Ports = Readonly<Record<string, Handlers>>;

/** One event of a `text/event-stream` answer. `data` is sent as JSON unless it is text. */
export interface ServerSentEvent {
  readonly event?: string;
  readonly data?: unknown;
  readonly id?: string;
  /** A line that clients skip: keeps proxies from closing a quiet stream. */
  readonly comment?: string;
}
