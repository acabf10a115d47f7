import { isLoopback, type Config } from '../config.ts';
import type { ServiceModule } from '../http/service.ts';
import { portsFor } from '../ports.ts';
import { sentence } from '../sentence.ts';

/** What the doctor found: something in order, something that is unsafe or missing, or something with which the server does not start. */
export interface Finding {
  readonly level: 'ok' | 'warning' | 'problem';
  /** A sentence, and for what is not in order a second one that says what to do. */
  readonly text: string;
}

export const ok = (text: string): Finding => ({ level: 'ok', text });
export const warning = (text: string): Finding => ({ level: 'warning', text });
export const problem = (text: string): Finding => ({ level: 'problem', text });

/** What the settings alone say. */
export function settingFindings(config: Config, served: readonly ServiceModule[]): Finding[] {
  const { production } = config;
  return [
    ok(
      production
        ? `The server runs in production mode, for ${served.length} services.`
        : `The server runs for a developer on this machine, for ${served.length} services. NODE_ENV=production or another HOST makes it production.`,
    ),
    ...(config.anonymousRoot
      ? [
          warning(
            'Requests without credentials act as root. Unset PLINTH_ANONYMOUS for anything but a trial.',
          ),
        ]
      : []),
    ...(config.corsOrigins.includes('*')
      ? [warning('Pages of every origin may call. Name your own origins in PLINTH_CORS_ORIGINS.')]
      : []),
    ...(production ? productionFindings(config, served) : []),
    ...served.flatMap((module) => refusals(config, served, module)),
  ];
}

/** Why a service would not start with the settings as they are. */
function refusals(config: Config, served: readonly ServiceModule[], module: ServiceModule): Finding[] {
  const { production, remotes, operator } = config;
  const here = served.map(({ name }) => name);
  const checks = [
    () => module.checkSettings?.({ settings: config.settingsOf(module), production }),
    () => portsFor(module, { here, remotes, operator, mounted: never }),
  ];
  return checks.flatMap((check) => {
    try {
      check();
      return [];
    } catch (error) {
      return [problem(sentence(error))];
    }
  });
}

function never(): never {
  throw new Error('a port was asked while the settings were checked');
}

function productionFindings(config: Config, served: readonly ServiceModule[]): Finding[] {
  return [
    addressFinding(config),
    ...(isLoopback(config.host) && config.trustedProxy.length === 0
      ? [
          warning(
            `Only a proxy on this machine reaches ${config.host}, and it is not trusted to report the addresses of clients: all of them share one rate limit. Set PLINTH_TRUSTED_PROXY=127.0.0.1.`,
          ),
        ]
      : []),
    ...(!isLoopback(config.host) && config.trustedProxy.length === 0 && config.publicUrl?.startsWith('https:')
      ? [
          warning(
            `Clients come through the proxy of ${config.publicUrl}, which is not trusted to report their addresses: all of them share one rate limit. Set PLINTH_TRUSTED_PROXY to its address.`,
          ),
        ]
      : []),
    ...(config.trustedProxy.some((range) => range.endsWith('/0'))
      ? [
          warning(
            'Everybody is trusted to report the address of a client, so anybody gets around the limits by address. Name only your proxies in PLINTH_TRUSTED_PROXY.',
          ),
        ]
      : []),
    ...limitFindings(config, served),
    ...(config.allowPrivateTargets
      ? [
          warning(
            'Users may name private addresses as targets of webhooks and other calls. Unset PLINTH_ALLOW_PRIVATE_TARGETS unless all users are trusted.',
          ),
        ]
      : []),
    ...(config.databaseUrl === undefined
      ? [
          warning(
            'The embedded database serves one process on one machine. Set DATABASE_URL to a PostgreSQL server to run several and to be backed up while running.',
          ),
        ]
      : []),
    ...(config.masterKey === undefined
      ? [
          warning(
            `The master key is kept in ${config.dataDir}, beside the data that it protects. Keep it elsewhere and give it as PLINTH_MASTER_KEY: without it, everything sealed is lost.`,
          ),
        ]
      : []),
    ...guessableFindings(config),
    ...mailFindings(config, served),
  ];
}

/** A random secret of the length that is required has far more different characters, or bytes, than these. */
const fewCharacters = 10;
const fewBytes = 16;

/** Secrets that somebody typed instead of drawing them. */
function guessableFindings({ rootToken, masterKey }: Config): Finding[] {
  return [
    ...(rootToken !== undefined && new Set(rootToken).size < fewCharacters
      ? [
          warning(
            'The root token can be guessed. Set PLINTH_ROOT_TOKEN to what `openssl rand -hex 24` prints.',
          ),
        ]
      : []),
    ...(masterKey !== undefined && new Set(Buffer.from(masterKey, 'base64')).size < fewBytes
      ? [
          warning(
            'The master key can be guessed. Set PLINTH_MASTER_KEY to what `openssl rand -base64 32` prints, and the present one as PLINTH_MASTER_KEY_PREVIOUS if anything was sealed with it.',
          ),
        ]
      : []),
  ];
}

function addressFinding({ publicUrl, host }: Config): Finding {
  if (publicUrl === undefined)
    return problem(
      'The address at which clients reach the server is unknown, so it does not start. Set PLINTH_PUBLIC_URL, like https://plinth.example.com.',
    );
  return publicUrl.startsWith('https:') || isLoopback(new URL(publicUrl).hostname)
    ? ok(`Tokens and links name ${publicUrl}.`)
    : warning(
        `Clients reach ${host} without encryption, as ${publicUrl} says. Put a proxy with TLS in front, and set PLINTH_PUBLIC_URL to its https address.`,
      );
}

function limitFindings(config: Config, served: readonly ServiceModule[]): Finding[] {
  const auth = served.find(({ name }) => name === 'auth');
  if (!auth || config.settingsOf(auth)['rateLimit'] !== 'off') return [];
  return [
    warning(
      'Sign-ins and sign-ups are not limited by address. Unset PLINTH_AUTH_RATE_LIMIT unless a proxy limits them.',
    ),
  ];
}

function mailFindings(config: Config, served: readonly ServiceModule[]): Finding[] {
  const auth = served.find(({ name }) => name === 'auth');
  if (!auth || config.settingsOf(auth)['smtpUrl'] !== '') return [];
  return [
    warning(
      'Mails to users wait, because no mail server is known: nobody can confirm an address or reset a password. Set PLINTH_AUTH_SMTP_URL.',
    ),
  ];
}
