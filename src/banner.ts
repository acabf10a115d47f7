import type { Logger } from 'pino';
import { services as contracts, type ServiceName } from '../generated/operations.ts';
import type { Config } from './config.ts';
import type { Database } from './db/index.ts';
import type { ServiceModule } from './http/service.ts';
import type { RootToken } from './root-token.ts';

/** Tells the person who starts the server where everything is. */
export function announce(
  config: Config,
  modules: readonly ServiceModule[],
  root: RootToken,
  url: string,
  engine: Database['engine'],
  log: Logger,
): void {
  const alone = config.services.length === 1;
  const names = config.services as readonly ServiceName[];
  const lines = [
    `Plinth listens on ${url}`,
    ...names.map(
      (name) => `  ${name.padEnd(8)} ${contracts[name].title}: ${url}${alone ? '' : `/${name}`}/docs`,
    ),
    ...outboxLines(config, modules, alone ? url : `${url}/auth`),
    `  database  ${engine === 'pglite' ? `embedded, in ${config.dataDir}` : 'PostgreSQL'}`,
    ...tokenLines(root),
    ...(config.anonymousRoot ? ['  Requests without credentials act as root (PLINTH_ANONYMOUS).'] : []),
  ];
  // Beside the log: it is for the person who starts the server, and the token must not be kept with the lines.
  process.stderr.write(`${lines.join('\n')}\n`);
  log.info({ url, services: config.services, engine }, 'listening');
}

/** Where messages to users can be read that were not really sent. */
function outboxLines(config: Config, modules: readonly ServiceModule[], url: string): string[] {
  const auth = modules.find(({ name }) => name === 'auth' && config.services.includes(name));
  if (config.production || !auth?.basePath) return [];
  const { served } = auth.basePath(config.settingsOf(auth));
  return [`  outbox    mail and codes to users: ${url}${served}/dev/outbox`];
}

function tokenLines({ token, file, isNew }: RootToken): string[] {
  if (file === undefined) return ['  root token from PLINTH_ROOT_TOKEN'];
  return isNew
    ? [`  root token ${token}`, `  (shown this once; kept in ${file})`]
    : [`  root token in ${file}`];
}
