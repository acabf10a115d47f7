import type { Logger } from 'pino';
import type { Engine } from '../db/engine/index.ts';
import type { Database } from '../db/index.ts';
import type { Consumer, Outbox } from '../db/relay/relay.ts';
import type { Sweep } from '../db/sweeps.ts';
import type { QueueLoad } from '../lib/bounded-queue.ts';
import type { DomainError } from '../lib/errors.ts';
import type { Sealer } from '../lib/seal.ts';
import type { SettingsOf, SettingsTable } from '../lib/settings.ts';
import type { Operator } from './access.ts';
import type { BasePath } from './base-path.ts';
import type { Caller } from './caller.ts';
import type { Context } from './context.ts';
import type { CredentialResolver } from './credentials.ts';
import type { ErrorPage } from './failure.ts';
import type { Asks, PortsOf } from './port.ts';
import type { RawMount } from './raw-mounts.ts';
import type { Remote } from './remote-port.ts';
import type { DeveloperLink } from './start.ts';

/**
 * What a service's `index.ts` exports: its name, where its migrations are, the settings it reads and how to create it.
 * `create` runs once per process, after the migrations; it may prepare what the handlers need, but background work
 * belongs in `start`.
 */
export interface ServiceModule<
  Declared extends SettingsTable = SettingsTable,
  Asked extends Asks = Record<never, never>,
> {
  /** Names the service's folder and its database schema, and begins its scopes and its path. */
  readonly name: string;
  /** Folder of its `.sql` files. */
  readonly migrations: URL;
  /**
   * The interfaces of its contract that are implemented, or single operations by id; by default all. The others are neither
   * mounted nor documented, and such a service is served only when the configuration names it.
   */
  readonly built?: readonly string[];
  /** The settings that it reads from the environment: `PLINTH_<SERVICE>_…`. */
  readonly settings: Declared;
  /** Notes for the person who starts the server, each a word and a line. */
  notes?(
    deps: Pick<ServiceDeps<SettingsOf<Declared>>, 'settings' | 'sealer' | 'production' | 'publicUrl'>,
  ): readonly (readonly [string, string])[];
  /** Throws a `SettingError` for settings that contradict one another, with which `create` fails too. */
  checkSettings?(deps: Pick<ServiceDeps<SettingsOf<Declared>>, 'settings' | 'production'>): void;
  /** Where its paths begin, when that differs from the contract. */
  basePath?(settings: SettingsOf<Declared>): BasePath;
  /** What the operator can do with its database while no server has to run; each returns a sentence about what it did. */
  readonly commands?: Readonly<Record<string, (db: Database) => Promise<string>>>;
  /** The other services that it asks. */
  readonly asks?: Asked;
  create(deps: ServiceDeps<SettingsOf<Declared>, Asked>): Service | Promise<Service>;
  /** How a server that does not serve it resolves the credentials that it issues: by asking the server that does. */
  remoteCredentials?(remote: Remote, operator: Operator): RemoteCredentials;
}

/** What the server passes to a service. */
export interface ServiceDeps<Settings = unknown, Asked extends Asks = Record<never, never>> {
  readonly db: Database;
  /** Background jobs. A service registers its handlers and crons in `create`, for queues named `plinth.<service>…`. */
  readonly engine: Engine;
  readonly settings: Settings;
  /** Encrypts stored values that must be readable again. */
  readonly sealer: Sealer;
  /** The folder for files that outlive the process. It may not exist yet. */
  readonly dataDir: string;
  /** Whether anyone but a developer uses the server: `NODE_ENV` says so, or other machines can reach it. */
  readonly production: boolean;
  /** Whether addresses that users provide may be private and may use plain `http`. */
  readonly allowPrivateTargets: boolean;
  /** Where clients reach the service's paths: the public address of the server, and `/<service>` unless the service runs alone. */
  readonly publicUrl: string;
  /** Where clients reach the server as a whole. Neither URL ends with a slash. */
  readonly serverUrl: string;
  /** A logger whose lines carry the service's name. */
  readonly log: Logger;
  /** Aborted when the server begins to stop: requests that wait for something are answered then. */
  readonly ending: AbortSignal;
  /** The services that the module asks. They answer from `start` on, and to every request, but not yet in `create`. */
  readonly ports: PortsOf<Asked>;
}

/**
 * A running service. Handlers are grouped as in the contract: `{ Roles: roles(deps), … }`; at startup the runtime checks
 * that every operation has a handler and every handler has an operation.
 */
export interface Service {
  readonly handlers: Handlers;
  /**
   * Encodes an error in the documented envelope, as a JSON body. `status` is the HTTP status of the response, `operation` the id
   * of the operation that failed.
   */
  encodeError(error: DomainError, status: number, operation?: string): unknown;
  /** Renders the error as a page for people, when the operation documents a page for the status. */
  errorPage?(error: DomainError, status: number): ErrorPage;
  /** Periodic tasks that expire or delete its records. They run while the service runs. */
  readonly sweeps?: readonly Sweep[];
  /** Declared by a service that emits events: the relay reads its outbox, and events that nobody waits for are deleted after a week. */
  readonly outbox?: Omit<Outbox, 'service'>;
  /**
   * The service's consumers of events, which receive the events of all services of the server, its own included. Consumers are
   * called from `start` on, each in one process at a time, and only where the engine runs.
   */
  readonly consumers?: readonly Consumer[];
  /** Starts other background work; called after all services are created, but not in processes that only migrate. */
  start?(): void | Promise<void>;
  /** Stops background work; called after the last request in flight is answered. */
  stop?(): void | Promise<void>;
  /** Additional paths of operations by id, relative to the server: paths that a standard places outside of the service. */
  readonly alsoAt?: Readonly<Record<string, string>>;
  /**
   * Identifies the callers of its own operations by credentials that only it knows, such as a signed link. Called before the
   * credentials of the platform are looked at, and not for public operations. Throws `Unauthenticated` or `Forbidden` for such a
   * credential that is not valid.
   */
  readonly identify?: OwnCredentials;
  /** Limits of operations by id that its settings decide; they replace the limits in the contract. */
  readonly limits?: Readonly<Record<string, OperationLimits>>;
  /** Parts of the service that speak another protocol than that of the contract. */
  readonly raw?: readonly RawMount[];
  /** Figures of the bounded queues in which requests may wait, for `/metrics`. */
  queues?(): readonly QueueFigures[];
  /**
   * Whether pages of this origin may call the service, in addition to the origins that the configuration names. A preflight carries no
   * credential, so a service may allow it for a path and decide in the handler, with `admitOrigins` of the context, who reads the
   * response.
   */
  allowsOrigin?(origin: string, asked: AskedOrigin): boolean;
  /** Links on the start page of a server for development, for the person who develops. */
  readonly developerLinks?: readonly DeveloperLink[];
  /** Resolve the credentials that it issues, each in requests to any service; in the order in which they are tried. */
  readonly credentials?: readonly CredentialResolver[];
}

/** The resolvers of a service that another server serves, and the background work that they need. */
export interface RemoteCredentials {
  readonly credentials: readonly CredentialResolver[];
  start?(): void;
  stop?(): Promise<void>;
}

/** Returns the identity that a credential of the service's own gives; undefined when the request carries none. */
export type OwnCredentials = (
  request: CredentialRequest,
) => OwnIdentity | undefined | Promise<OwnIdentity | undefined>;

/**
 * The caller; or a token of the platform that the request carries elsewhere than in `Authorization`, such as in a subprotocol, and by
 * which the platform identifies the caller.
 */
export type OwnIdentity = Caller | { readonly bearer: string };

/** The parts of a request that a credential of a service's own may consist of or cover. */
export interface CredentialRequest {
  /** The id of the operation. */
  readonly operation: string;
  readonly method: string;
  /** The path and the query as sent, relative to the server. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly ip: string;
  readonly requestId: string;
}

/** The request of a page of another origin. */
export interface AskedOrigin {
  /** The path relative to the service, without the query. */
  readonly path: string;
  /** Whether this is a preflight, in which the browser asks what the page may send. */
  readonly preflight: boolean;
}

export interface OperationLimits {
  /** The most bytes of a request body. */
  readonly bodyBytes?: number;
  /** Seconds in which a request body must arrive. */
  readonly body?: number;
  /** Seconds without progress of a request body, or of a response in pieces. */
  readonly silence?: number;
}

/** The current state of a bounded queue. */
export interface QueueFigures extends QueueLoad {
  /** The name of the queue: `<service>.<what waits>`. */
  readonly queue: string;
}

/**
 * An operation's implementation. It gets the validated request (path, query and header parameters by wire name, the
 * body as `body`) and responds by its return value:
 * - JSON operations: the value; nothing for a 204. With `@streamed` in the contract, an `AsyncIterable` of the items of an array, or
 *   an object whose members may be such iterables, is sent as it is produced;
 * - `application/x-ndjson`: an `AsyncIterable` of the lines. An error thrown while it runs becomes the last line, in the service's
 *   envelope, and cuts the connection;
 * - `text/event-stream`: an `AsyncIterable<ServerSentEvent>`. An error thrown before it is returned becomes an error
 *   response; an error thrown while it runs ends the stream with an `error` event;
 * - an operation with the status 101: a `TakeOver`, which gets the connection after the handshake;
 * - any other content type: text, bytes, or an `AsyncIterable<Uint8Array>`.
 * When several content types are documented, the response has the first, or the one that the handler sets with
 * `reply.header('Content-Type', …)`. A HEAD operation returns nothing and sets headers only.
 * A request body that is neither JSON nor a form arrives as an `AsyncIterable<Uint8Array>` that may throw `TooLarge`. It is
 * empty when there is no body, and keeps its content encoding; `Content-Type` in the request names its type.
 */
export type Handler = (request: never, context: Context) => unknown;

/** Handlers by interface (`Roles`) and method (`create`). */
export type Handlers = Readonly<Record<string, Readonly<Record<string, Handler>>>>;

/** One event of a `text/event-stream` answer. `data` is sent as JSON unless it is text. */
export interface ServerSentEvent {
  readonly event?: string;
  readonly data?: unknown;
  readonly id?: string;
  /** Milliseconds that a client waits before it connects again. */
  readonly retry?: number;
  /** A line that clients ignore; it keeps proxies from closing a quiet stream. */
  readonly comment?: string;
}
