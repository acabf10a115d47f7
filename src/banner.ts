import type { Logger } from 'pino';
import { services as contracts, type ServiceName } from '../generated/operations.ts';
import { type Config, isLoopback } from './config.ts';
import type { Database } from './db/index.ts';
import type { ServiceModule } from './http/service.ts';
import type { Sealer } from './lib/seal.ts';
import type { RootToken } from './root-token.ts';

export interface Announcement {
  readonly config: Config;
  readonly modules: readonly ServiceModule[];
  readonly root: RootToken;
  readonly sealer: Sealer;
  /** The URL at which the server listens. */
  readonly url: string;
  readonly engine: Database['engine'];
  readonly log: Logger;
}

/** Shows the person who starts the server where everything is. */
export function announce(announcement: Announcement): void {
  const { config, url, engine, log } = announcement;
  // This does not go to the log: it is for the person who starts the server, and the log must not keep the token.
  process.stderr.write(`${bannerOf(announcement).join('\n')}\n`);
  log.info({ url, services: config.services, engine }, 'listening');
}

/** The lines that the person who starts the server reads. */
export function bannerOf(announcement: Omit<Announcement, 'log'>): string[] {
  const { config, root, url, engine } = announcement;
  const names = config.services as readonly ServiceName[];
  return [
    `Plinth listens on ${url}`,
    ...names.map((name) => `  ${name.padEnd(8)} ${contracts[name].title}: ${url}/${name}/docs`),
    ...noteLines(announcement),
    `  database ${engine === 'pglite' ? `embedded, in ${config.dataDir}` : 'PostgreSQL'}`,
    ...tokenLines(root, config.production),
    ...productionLines(announcement),
    ...(config.anonymousRoot ? ['  Requests without credentials act as root (PLINTH_ANONYMOUS).'] : []),
  ];
}

/** The notes of the services. */
function noteLines(announcement: Omit<Announcement, 'log'>): string[] {
  const { config, sealer, url } = announcement;
  const served = servedModules(announcement);
  const { production, publicUrl = url } = config;
  return served.flatMap((module) => {
    const own = served.length === 1 ? publicUrl : `${publicUrl}/${module.name}`;
    const notes = module.notes?.({ settings: config.settingsOf(module), sealer, production, publicUrl: own });
    return (notes ?? []).map(([word, line]) => `  ${word.padEnd(8)} ${line}`);
  });
}

/** In production standard error is often stored elsewhere, so the token stays in its file. */
function tokenLines({ token, file, isNew }: RootToken, production: boolean): string[] {
  if (file === undefined) return ['  root token from PLINTH_ROOT_TOKEN'];
  return isNew && !production
    ? [`  root token ${token}`, `  (shown this once; kept in ${file})`]
    : [`  root token in ${file}`];
}

/** The differences from a developer's machine, and the reasons for them; one sentence each. */
function productionLines(announcement: Omit<Announcement, 'log'>): string[] {
  const { config, url } = announcement;
  const { production, publicUrl, host, allowPrivateTargets } = config;
  if (!production) return [];
  return [
    isLoopback(host)
      ? '  This is production, as NODE_ENV says.'
      : `  This is production, because other machines reach ${host}.`,
    `  Tokens and links name ${publicUrl} (PLINTH_PUBLIC_URL).`,
    ...accountLines(announcement),
    `  Private addresses are ${allowPrivateTargets ? 'accepted' : 'refused'} where users name targets (PLINTH_ALLOW_PRIVATE_TARGETS).`,
    `  ${url}/metrics answers this machine, and others with a credential of the operator that holds metrics:read.`,
  ];
}

/** Sentences about users' accounts are shown only where accounts are served. */
function accountLines(announcement: Omit<Announcement, 'log'>): string[] {
  const auth = servedModules(announcement).find(({ name }) => name === 'auth');
  if (!auth) return [];
  const unlimited = announcement.config.settingsOf(auth)['rateLimit'] === 'off';
  return [
    `  Requests are ${unlimited ? 'not ' : ''}limited by address (PLINTH_AUTH_RATE_LIMIT).`,
    '  Messages to users are not kept to be read: without a mail server they wait (PLINTH_AUTH_SMTP_URL, PLINTH_AUTH_SMS_URL).',
  ];
}

const servedModules = ({ config, modules }: Pick<Announcement, 'config' | 'modules'>) =>
  modules.filter(({ name }) => config.services.includes(name));
