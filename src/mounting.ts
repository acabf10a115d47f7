import type { Logger } from 'pino';
import { operations, services as contracts, type ServiceName } from '../generated/operations.ts';
import type { Config } from './config.ts';
import type { Engine } from './db/engine/index.ts';
import type { Database } from './db/index.ts';
import type { Contract, ContractBreach } from './http/contract.ts';
import type { Validators } from './http/operation.ts';
import type { Mounted } from './http/runtime.ts';
import type { Service, ServiceModule } from './http/service.ts';
import type { Sealer } from './lib/seal.ts';
import { portsFor } from './ports.ts';

/** The part of the configuration that services and their mounting read. */
export interface MountConfig extends Pick<
  Config,
  'operator' | 'strict' | 'dataDir' | 'production' | 'allowPrivateTargets' | 'remotes' | 'settingsOf'
> {
  readonly sealer: Sealer;
  /** The URL at which clients reach the server, without a trailing slash. */
  readonly publicUrl: string;
}

export interface Mounting {
  readonly db: Database;
  readonly engine: Engine;
  readonly modules: readonly ServiceModule[];
  readonly config: MountConfig;
  readonly log: Logger;
  /** Aborted when the server begins to stop. */
  readonly ending: AbortSignal;
  /** Whether services are served under `/<service>`; otherwise the only service is served without a prefix. */
  readonly prefixed: boolean;
}

/**
 * Creates the services, each with its contract and its path. They reach each other through ports, which answer once all of them
 * have been created.
 */
export async function mountServices(
  mounting: Mounting,
  onBreach: (breach: ContractBreach) => void,
): Promise<readonly Mounted[]> {
  const { modules, config } = mounting;
  const mounted = new Map<string, Mounted>();
  const neighbours = {
    here: modules.map(({ name }) => name),
    mounted: (name: string) => {
      const found = mounted.get(name);
      if (!found)
        throw new Error(`${name} was asked before all services were created; ask it from start() on`);
      return found;
    },
    remotes: config.remotes,
    operator: config.operator,
  };
  const judge = await contractJudge(config, onBreach);
  const created: Mounted[] = [];
  for (const module of modules) {
    const service = await module.create({ ...depsOf(module, mounting), ports: portsFor(module, neighbours) });
    created.push(await mount(module, service, mounting, judge));
  }
  for (const one of created) mounted.set(one.name, one);
  return created;
}

function depsOf(module: ServiceModule, { db, engine, config, log, ending, prefixed }: Mounting) {
  const { name } = module;
  const { sealer, dataDir, production, allowPrivateTargets, publicUrl } = config;
  return {
    db,
    engine,
    settings: config.settingsOf(module),
    sealer,
    dataDir,
    production,
    allowPrivateTargets,
    publicUrl: prefixed ? `${publicUrl}/${name}` : publicUrl,
    serverUrl: publicUrl,
    log: log.child({ service: name }),
    ending,
  };
}

async function mount(
  module: ServiceModule,
  service: Service,
  { prefixed, config }: Mounting,
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

/** Loads the second check only in strict mode: it takes longer to load than everything else. */
async function contractJudge({ strict }: MountConfig, onBreach: (breach: ContractBreach) => void) {
  if (!strict) return undefined;
  const { strictContract } = await import('./http/contract.ts');
  return (document: URL) => strictContract(document, onBreach);
}

/** The title of a service and its OpenAPI document. */
export const described = (name: ServiceName) => ({
  title: contracts[name].title,
  document: new URL(`../tsp-output/openapi/${contracts[name].document}.json`, import.meta.url),
});
