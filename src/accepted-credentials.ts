import type { Operator } from './http/access.ts';
import { type CredentialResolver, rootToken } from './http/credentials.ts';
import type { Remote } from './http/remote-port.ts';
import type { RemoteCredentials, Service, ServiceModule } from './http/service.ts';

/** The inputs that determine which credentials a server accepts. */
export interface AcceptedCredentialsOptions {
  readonly rootToken: string;
  /** All modules, in the order in which their credentials are tried. */
  readonly modules: readonly ServiceModule[];
  /** The services of this process, by name. */
  readonly services: ReadonlyMap<string, Service>;
  /** The services of other servers, by name. */
  readonly remotes: Readonly<Record<string, Remote>>;
  readonly operator: Operator;
}

/** The credentials that a server accepts, and the background work that they need. */
export interface AcceptedCredentials {
  /** In the order in which they are tried: the root token first, then those of each service. */
  readonly resolvers: readonly CredentialResolver[];
  start(): void;
  stop(): Promise<void>;
}

/** The credentials of a service are resolved in this process if it serves the service, else by the server that does. */
export function acceptedCredentials(options: AcceptedCredentialsOptions): AcceptedCredentials {
  const { modules, services, remotes, operator } = options;
  const issued = modules.flatMap((module): RemoteCredentials[] => {
    const service = services.get(module.name);
    if (service) return [{ credentials: service.credentials ?? [] }];
    const remote = remotes[module.name];
    return remote && module.remoteCredentials ? [module.remoteCredentials(remote, operator)] : [];
  });
  return {
    resolvers: [rootToken(options.rootToken), ...issued.flatMap(({ credentials }) => credentials)],
    start: () => issued.forEach((one) => one.start?.()),
    stop: async () => void (await Promise.allSettled(issued.map(async (one) => one.stop?.()))),
  };
}
