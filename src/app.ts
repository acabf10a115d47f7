import type { Express } from 'express';
import type { ServiceName } from '../generated/operations.ts';
import { acceptedCredentials, type AcceptedCredentials } from './accepted-credentials.ts';
import type { Config } from './config.ts';
import { createEngine, type Engine, engineOutbox, settings as engineSettings } from './db/engine/index.ts';
import { createIdempotency } from './db/idempotency.ts';
import { outboxSweep } from './db/outbox-pruning.ts';
import { relaySweeps } from './db/relay/relay.ts';
import type { Sweep } from './db/sweeps.ts';
import { serverFigures } from './figures.ts';
import type { ContractBreach } from './http/contract.ts';
import { createCors } from './http/cors.ts';
import { anonymousRoot, callers } from './http/credentials.ts';
import { createFrame, createRawFrame } from './http/frame.ts';
import { createHealth } from './http/health.ts';
import { createMetrics } from './http/metrics.ts';
import { createPages } from './http/pages.ts';
import { createStart } from './http/start.ts';
import { trustedPeers } from './http/peers.ts';
import { createRuntime, type Mounted } from './http/runtime.ts';
import { scraper } from './http/scraper.ts';
import type { ServiceModule } from './http/service.ts';
import { described, type MountConfig, type Mounting, mountServices } from './mounting.ts';

/** The part of the configuration that the composition reads. */
export interface AppConfig
  extends MountConfig, Pick<Config, 'trustedProxy' | 'corsOrigins' | 'anonymousRoot'> {
  readonly rootToken: string;
}

/** The parts of a server. */
export interface Composition extends Omit<Mounting, 'engine' | 'ending'> {
  readonly config: AppConfig;
  /** Called with the leases under which the background jobs run. */
  readonly onLease?: ((leaseId: string) => void) | undefined;
}

export interface App {
  readonly handle: Express;
  /** What answers on the ports that services have of their own. */
  readonly ports: readonly { readonly port: number; readonly handle: Express }[];
  /** Whether connections are upgraded at this URL. */
  readonly upgrades: (url: string) => boolean;
  /** Breaches of the contract that strict mode found. */
  readonly breaches: readonly ContractBreach[];
  /** Starts the background work of the services. */
  start(): Promise<void>;
  /** Makes `/readyz` report that the server is not ready; all requests are still served. */
  drain(): void;
  /** Ends event streams, and drains; requests in flight continue. */
  end(): void;
  /** Stops the background work; call it when no request is in flight any more. */
  stop(): Promise<void>;
}

/** Loads the module of each service that is implemented; only modules that are asked for are loaded. */
const loaders = {
  auth: async () => (await import('./services/auth/index.ts')).auth,
  authz: async () => (await import('./services/authz/index.ts')).authz,
  keys: async () => (await import('./services/keys/index.ts')).keys,
  jobs: async () => (await import('./services/jobs/index.ts')).jobs,
  safety: async () => (await import('./services/safety/index.ts')).safety,
  audit: async () => (await import('./services/audit/index.ts')).audit,
  webhooks: async () => (await import('./services/webhooks/index.ts')).webhooks,
  storage: async () => (await import('./services/storage/index.ts')).storage,
  billing: async () => (await import('./services/billing/index.ts')).billing,
  sync: async () => (await import('./services/sync/index.ts')).sync,
} satisfies Partial<Record<ServiceName, () => Promise<ServiceModule>>>;

export type ServedName = keyof typeof loaders;

export const serviceNames = Object.keys(loaders) as readonly ServedName[];

export const loadServices = (names: readonly ServedName[]): Promise<ServiceModule[]> =>
  Promise.all(names.map((name) => loaders[name]()));

/** Composes a server from its parts: services on one database, behind one runtime. */
export async function createApp(composition: Composition): Promise<App> {
  const { db, config, log } = composition;
  const draining = new AbortController();
  const ending = new AbortController();
  const breaches: ContractBreach[] = [];
  const engine = createEngine({
    db,
    log,
    settings: config.settingsOf({ settings: engineSettings }),
    onLease: composition.onLease,
  });
  const mounted = await mountServices({ ...composition, engine, ending: ending.signal }, (breach) =>
    breaches.push(breach),
  );
  const services = mounted.map(({ service }) => service);
  const credentials = await credentialsOf(composition, mounted);
  const mac = (tenant: string, text: string) => config.sealer.mac('plinth/idempotency/v1', tenant, text);
  const repeats = createIdempotency({ db, log, mac });
  const signals = { draining: draining.signal, ending: ending.signal };
  for (const sweep of [repeats.sweep, ...sweepsOf(composition, mounted)]) engine.sweep(sweep);
  return {
    ...composeFrame(composition, { engine, mounted, credentials, repeats, signals }),
    breaches,
    async start() {
      for (const service of services) await service.start?.();
      await engine.start();
      credentials.start();
    },
    drain: () => draining.abort(),
    end() {
      draining.abort();
      ending.abort();
    },
    async stop() {
      // Jobs and sweeps call services, so they end first.
      await engine.stop();
      repeats.stop();
      await Promise.allSettled([credentials.stop(), ...services.map((service) => service.stop?.())]);
    },
  };
}

/** The periodic work of the services, the pruning of their outboxes, and the relay between the outboxes and the consumers. */
function sweepsOf({ db, log }: Composition, mounted: readonly Mounted[]): Sweep[] {
  const services = mounted.map(({ service }) => service);
  const outboxes = mounted.flatMap(({ name, service: { outbox } }) =>
    outbox === undefined ? [] : [{ ...outbox, service: name }],
  );
  return [
    ...services.flatMap(({ sweeps }) => sweeps ?? []),
    ...outboxes.map((outbox) => outboxSweep({ ...outbox, db })),
    ...relaySweeps({
      db,
      log,
      outboxes: [...outboxes, engineOutbox],
      consumers: services.flatMap(({ consumers }) => consumers ?? []),
    }),
  ];
}

/** The accepted credentials. Those of services that other servers serve are included, in the order of the table above. */
async function credentialsOf({ modules, config }: Composition, mounted: readonly Mounted[]) {
  const services = new Map(mounted.map(({ name, service }) => [name, service]));
  const elsewhere = serviceNames.filter((name) => !services.has(name) && config.remotes[name]);
  const place = ({ name }: ServiceModule) => serviceNames.indexOf(name as ServedName);
  const all = [...modules, ...(await loadServices(elsewhere))].sort((a, b) => place(a) - place(b));
  return acceptedCredentials({ ...config, modules: all, services });
}

interface Parts {
  readonly engine: Engine;
  readonly mounted: readonly Mounted[];
  readonly credentials: AcceptedCredentials;
  readonly repeats: ReturnType<typeof createIdempotency>;
  readonly signals: { readonly draining: AbortSignal; readonly ending: AbortSignal };
}

/** Puts the runtime into the frame that all requests pass: health, metrics, pages, CORS and the log. */
function composeFrame(
  { db, config, log }: Composition,
  { engine, mounted, credentials, repeats, signals }: Parts,
) {
  const { operator } = config;
  const metrics = createMetrics(
    serverFigures({
      db,
      engine,
      turns: () => runtime.turns(),
      queues: () => mounted.flatMap(({ service }) => service.queues?.() ?? []),
    }),
  );
  const identify = callers(credentials.resolvers, config.anonymousRoot ? anonymousRoot : undefined);
  const origins = config.corsOrigins;
  const admits = (url: string, origin: string, preflight: boolean) =>
    mounted.some((one) => admittedBy(one, url, origin, preflight));
  const runtime = createRuntime(mounted, {
    identify,
    admitsOrigin: (url, origin) =>
      origins.includes('*') || origins.includes(origin) || admits(url, origin, false),
    operator,
    metrics,
    log,
    idempotency: repeats,
    ending: signals.ending,
  });
  const peers = trustedPeers(config.trustedProxy);
  const health = createHealth(() => db.probe(), signals.draining);
  const start = createStart({
    ...health,
    production: config.production,
    anonymous: config.anonymousRoot,
    address: config.publicUrl,
    links: mounted.flatMap(({ service }) => service.developerLinks ?? []),
  });
  const handle = createFrame({
    runtime,
    cors: createCors({
      origins,
      admits,
      operations: mounted.flatMap((service) => service.operations),
      methodsOf: (url) => runtime.methodsOf(url),
    }),
    peers,
    log,
    metrics,
    mayScrape: scraper({ identify, operator, production: config.production }),
    health,
    pages: createPages(mounted.map(pageOf), { start }),
  });
  const ports = runtime.raw.ports.map(({ port, handle }) => ({
    port,
    handle: createRawFrame({ runtime, peers, log, metrics }, handle),
  }));
  return { handle, ports, upgrades: (url: string) => runtime.upgrades(url) };
}

/** A service admits the origins that it knows, at its own paths. */
function admittedBy({ prefix, service }: Mounted, url: string, origin: string, preflight: boolean): boolean {
  if (!url.startsWith(`${prefix}/`)) return false;
  const [path = ''] = url.slice(prefix.length).split('?', 1);
  return service.allowsOrigin?.(origin, { path, preflight }) === true;
}

const pageOf = ({ name, prefix, basePath, operations }: Mounted) => ({
  name,
  prefix,
  basePath,
  operations: new Set(operations.map(({ id }) => id)),
  ...described(name as ServiceName),
});
