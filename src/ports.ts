import type { ServiceName } from '../generated/operations.ts';
import type { Operator } from './http/access.ts';
import { isRootForm } from './http/credentials.ts';
import { localClient } from './http/local-port.ts';
import { type Asks, portOver, type PortsOf } from './http/port.ts';
import { remotePort, type Remote } from './http/remote-port.ts';
import type { Mounted } from './http/runtime.ts';
import { SettingError } from './lib/settings.ts';

/** Where the services run that others may ask. */
export interface Neighbours {
  /** The names of the services of this process. */
  readonly here: readonly string[];
  /** Returns a service of this process. Call it only after all services have been created. */
  readonly mounted: (name: string) => Mounted;
  /** The services of other servers, by name. */
  readonly remotes: Readonly<Record<string, Remote>>;
  readonly operator: Operator;
}

/**
 * Builds the ports that a service declares. A service of this process is asked directly, any other over the network.
 * @throws SettingError when a required service is nowhere, or when the token for another server cannot speak for every tenant
 */
export function portsFor<Asked extends Asks>(
  { name: asker, asks }: { readonly name: string; readonly asks?: Asked },
  neighbours: Neighbours,
): PortsOf<Asked> {
  const ports = Object.entries(asks ?? {}).map(([name, need]) => {
    const port = portTo(name as ServiceName, asker, neighbours);
    if (port === undefined && need === 'required') throw missing(asker, name);
    return [name, port] as const;
  });
  return Object.fromEntries(ports) as PortsOf<Asked>;
}

function portTo(name: ServiceName, asker: string, { here, mounted, remotes, operator }: Neighbours) {
  if (here.includes(name))
    return portOver(
      name,
      localClient(() => mounted(name), operator),
    );
  const remote = remotes[name];
  if (remote === undefined) return undefined;
  if (!isRootForm(remote.token)) throw tenantsToken(asker, name);
  return remotePort(name, remote, operator);
}

const settingOf = (service: string) => `PLINTH_${service.toUpperCase()}`;

const missing = (asker: string, name: string) =>
  new SettingError(
    `${asker} needs ${name}: serve ${name} in the same process, or set ${settingOf(name)}_URL and ${settingOf(name)}_TOKEN to the server that does`,
  );

/**
 * Root names with each call the caller on whose behalf it calls; any other credential would have these names silently ignored.
 */
const tenantsToken = (asker: string, name: string) =>
  new SettingError(
    `${settingOf(name)}_TOKEN must be the root token of that server, since ${asker} asks ${name} on behalf of every tenant, and a key or a token of a user speaks for one`,
  );
