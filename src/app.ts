import type { Express } from 'express';
import type { Logger } from 'pino';
import { operations, services as contracts, type ServiceName } from '../generated/operations.ts';
import type { Config } from './config.ts';
import { idempotency } from './db/idempotency.ts';
import type { Database } from './db/index.ts';
import type { Contract, ContractBreach } from './http/contract.ts';
import { accessToken } from './http/access-token.ts';
import { createCors } from './http/cors.ts';
import {
  anonymousRoot,
  apiKey,
  callers,
  rootToken,
  sessionToken,
  type CredentialResolver,
} from './http/credentials.ts';
import { createFrame } from './http/frame.ts';
import { healthStore } from './http/health.store.ts';
import { createHealth } from './http/health.ts';
import { keysPort } from './http/keys-port.ts';
import { createMetrics } from './http/metrics.ts';
import type { Validators } from './http/operation.ts';
import { createPages } from './http/pages.ts';
import { trustedPeers } from './http/peers.ts';
import { createRuntime, type Mounted } from './http/runtime.ts';
import type { Handlers, Service, ServiceModule } from './http/service.ts';
import type { Sealer } from './lib/seal.ts';
import type { RemoteSessions } from './remote-sessions.ts';

/** What the composition reads of the configuration. */
export interface AppConfig extends Pick<
  Config,
  | 'operatorTenant'
  | 'trustedProxy'
  | 'corsOrigins'
  | 'anonymousRoot'
  | 'strict'
  | 'production'
  | 'allowPrivateTargets'
  | 'remotes'
  | 'settingsOf'
> {
  readonly rootToken: string;
  readonly sealer: Sealer;
}

export interface Composition {
  readonly db: Database;
  readonly modules: readonly ServiceModule[];
  readonly config: AppConfig;
  readonly log: Logger;
  /** Serve under `/<service>`; without it the only service has the paths for itself. */
  readonly prefixed: boolean;
}

export interface App {
  readonly handle: Express;
  /** What strict mode found wrong with the server's own requests and responses. */
  readonly breaches: readonly ContractBreach[];
  /** Begins the background work of the services. */
  start(): Promise<void>;
  /** Ends event streams and makes `/readyz` say no; requests in flight go on. */
  end(): void;
  /** Ends the background work; to be called when no request is in flight any more. */
  stop(): Promise<void>;
}

/** Where the module of each service that is built is; only those that are served are loaded. */
const modules = {
  auth: async () => (await import('./services/auth/index.ts')).auth,
  authz: async () => (await import('./services/authz/index.ts')).authz,
  keys: async () => (await import('./services/keys/index.ts')).keys,
} satisfies Partial<Record<ServiceName, () => Promise<ServiceModule>>>;

export type ServedName = keyof typeof modules;

export const serviceNames = Object.keys(modules) as readonly ServedName[];

export const loadServices = (names: readonly ServedName[]): Promise<ServiceModule[]> =>
  Promise.all(names.map((name) => modules[name]()));

/** Puts a server together from its parts: services on one database, behind one runtime. */
export async function createApp({ db, modules, config, log, prefixed }: Composition): Promise<App> {
  const ending = new AbortController();
  const breaches: ContractBreach[] = [];
  const services = await createServices({ db, modules, config, log, prefixed });
  const judge = await contractJudge(config, (breach) => breaches.push(breach));
  const mounted = await Promise.all(
    modules.map((module) => mount(module, services.get(module.name)!, { prefixed, config }, judge)),
  );
  const metrics = createMetrics();
  const sessions = await remoteAuth(config, services);
  const identify = callers(
    await credentialResolvers(config, services, sessions),
    config.anonymousRoot ? anonymousRoot : undefined,
  );
  const mac = (tenant: string, text: string) => config.sealer.mac('plinth/idempotency/v1', tenant, text);
  const repeats = idempotency({ db, log, mac });
  const runtime = createRuntime(mounted, {
    identify,
    operatorTenant: config.operatorTenant,
    metrics,
    log,
    idempotency: repeats,
    ending: ending.signal,
  });
  const cors = createCors({
    origins: config.corsOrigins,
    admits: admission(services, prefixed),
    operations: mounted.flatMap((service) => service.operations),
    methodsOf: (url) => runtime.methodsOf(url),
  });
  const handle = createFrame({
    runtime,
    cors,
    peers: trustedPeers(config.trustedProxy),
    log,
    metrics,
    health: createHealth(() => healthStore(db.sql).ping(), ending.signal),
    pages: createPages(
      mounted.map(({ name, prefix, basePath, operations }) => ({
        name,
        prefix,
        basePath,
        operations: new Set(operations.map(({ id }) => id)),
        ...described(name as ServiceName),
      })),
    ),
  });
  return {
    handle,
    breaches,
    async start() {
      for (const service of services.values()) await service.start?.();
      sessions?.start();
    },
    end: () => ending.abort(),
    async stop() {
      await Promise.allSettled([
        repeats.stop(),
        sessions?.stop(),
        ...[...services.values()].map((service) => service.stop?.()),
      ]);
    },
  };
}

/** Services reach each other through ports, which are complete when the first request or `start` comes. */
async function createServices({
  db,
  modules,
  config,
  log,
  prefixed,
}: Composition): Promise<Map<string, Service>> {
  const ports: Record<string, Handlers> = {};
  const services = new Map<string, Service>();
  for (const module of modules) {
    const { name } = module;
    const settings = config.settingsOf(module);
    const { sealer, production, allowPrivateTargets } = config;
    const service = await module.create({
      db,
      settings,
      sealer,
      production,
      allowPrivateTargets,
      prefix: prefixed ? `/${name}` : '',
      log: log.child({ service: name }),
      ports,
    });
    ports[name] = service.handlers;
    services.set(name, service);
  }
  return services;
}

async function mount(
  module: ServiceModule,
  service: Service,
  { prefixed, config }: Pick<Composition, 'prefixed' | 'config'>,
  judge: ((document: URL) => Contract) | undefined,
): Promise<Mounted> {
  const { name, built } = module;
  const { validators } = (await import(`../generated/${name}/validators.js`)) as {
    validators: Readonly<Record<string, Validators>>;
  };
  return {
    name,
    prefix: prefixed ? `/${name}` : '',
    basePath: module.basePath?.(config.settingsOf(module)),
    service,
    operations: operations.filter(
      ({ service, resource, id }) =>
        service === name && (built === undefined || built.includes(resource) || built.includes(id)),
    ),
    validators,
    contract: judge?.(described(name as ServiceName).document),
  };
}

/** The second judge is loaded only where it judges: it takes longer to load than everything else. */
async function contractJudge({ strict }: AppConfig, onBreach: (breach: ContractBreach) => void) {
  if (!strict) return undefined;
  const { strictContract } = await import('./http/contract.ts');
  return (document: URL) => strictContract(document, onBreach);
}

/** Each service lets in whom it knows, at its own paths. */
const admission =
  (services: ReadonlyMap<string, Service>, prefixed: boolean) =>
  (url: string, origin: string): boolean =>
    [...services].some(
      ([name, service]) => url.startsWith(prefixed ? `/${name}/` : '/') && service.allowsOrigin?.(origin),
    );
/** Session tokens are judged elsewhere where this server does not serve `auth` and knows who does. */
async function remoteAuth(
  { remotes }: AppConfig,
  services: ReadonlyMap<string, Service>,
): Promise<RemoteSessions | undefined> {
  if (services.has('auth') || !remotes['auth']) return undefined;
  const { remoteSessions } = await import('./remote-sessions.ts');
  return remoteSessions(remotes['auth']);
}

/** The credentials that count, in the order in which they are tried. Keys are judged in this process where it can. */
async function credentialResolvers(
  config: AppConfig,
  services: ReadonlyMap<string, Service>,
  remote: RemoteSessions | undefined,
): Promise<CredentialResolver[]> {
  const { rootToken: token, operatorTenant, remotes } = config;
  const resolvers = [rootToken(token)];
  const sessions = services.get('auth')?.ofSession ?? remote?.resolve;
  if (sessions) resolvers.push(sessionToken(sessions));
  const tokens = services.get('auth')?.ofAccessToken ?? remote?.resolveToken;
  if (tokens) resolvers.push(accessToken(tokens));
  const keys = services.get('keys');
  if (keys) resolvers.push(apiKey(keysPort(keys.handlers, operatorTenant)));
  else if (remotes['keys']) {
    const { remoteKeys } = await import('./remote-keys.ts');
    resolvers.push(apiKey(remoteKeys(remotes['keys'])));
  }
  return resolvers;
}

const described = (name: ServiceName) => ({
  title: contracts[name].title,
  document: new URL(`../tsp-output/openapi/${contracts[name].document}.json`, import.meta.url),
});
