import { canonicalRange, compileRanges } from './lib/addresses.ts';
import { nearest } from './lib/nearest.ts';
import {
  choice,
  duration,
  integer,
  readSetting,
  readSettings,
  type Setting,
  SettingError,
  type SettingsOf,
  type SettingsTable,
} from './lib/settings.ts';
import { isExported } from './lib/tracing/export.ts';
import type { Operator } from './http/access.ts';
import { masterKeyForm } from './master-key.ts';

/** The configuration from the environment and the command line, read once. */
export interface Config {
  readonly host: string;
  readonly port: number;
  /** The URL at which clients reach the server, without a trailing slash; undefined means where it listens. */
  readonly publicUrl: string | undefined;
  /** The folder of the embedded database, the root token and the master key. */
  readonly dataDir: string;
  /** Megabytes of free disk space below which the embedded database refuses writes. */
  readonly minFreeMb: number;
  /** The URL of PostgreSQL; undefined means the embedded database. */
  readonly databaseUrl: string | undefined;
  /** Undefined means the root token that is kept in the data directory. */
  readonly rootToken: string | undefined;
  /** The key that encrypts data at rest, 32 bytes in base64; undefined means the key that is kept in the data directory. */
  readonly masterKey: string | undefined;
  /** The key before `masterKey`, which still opens what it sealed. */
  readonly previousMasterKey: string | undefined;
  /** Whether express-openapi-validator also checks requests and responses. */
  readonly strict: boolean;
  /** Whether requests without credentials act as root. */
  readonly anonymousRoot: boolean;
  /** Names of the services that this process serves. */
  readonly services: readonly string[];
  /** The number of processes that share the port. */
  readonly workers: number;
  /** The app whose admins run the platform. */
  readonly operator: Operator;
  /** Where services run that this process needs but does not serve, by name. */
  readonly remotes: Readonly<Record<string, { readonly url: string; readonly token: string }>>;
  /** Addresses and CIDRs of proxies that are trusted to report the addresses of clients. */
  readonly trustedProxy: readonly string[];
  /** Origins whose pages may call, or `*`; by default none. */
  readonly corsOrigins: readonly string[];
  /** Whether anyone but a developer uses the server: `NODE_ENV` says so, or it listens on an address that other machines can reach. */
  readonly production: boolean;
  /** The most connections of each process to PostgreSQL. */
  readonly databaseConnections: number;
  /** Milliseconds between the signal to end and the end of listening, in which `/readyz` fails and all requests are still served. */
  readonly drainMs: number;
  /** Whether addresses that users provide may be private and may use plain `http`; by default not in production. */
  readonly allowPrivateTargets: boolean;
  readonly logLevel: (typeof logLevels)[number];
  /** Whether the standard variables of OpenTelemetry name a collector of traces. */
  readonly exportsSpans: boolean;
  /** The values of the settings that a service declares in its `settings.ts`. */
  readonly settingsOf: <Table extends SettingsTable>(service: {
    readonly settings: Table;
  }) => SettingsOf<Table>;
}

/** The options of the command line, which override the environment. */
export interface Flags {
  readonly port?: string | undefined;
  readonly host?: string | undefined;
  readonly data?: string | undefined;
  /** The services of `serve authz keys`. */
  readonly services?: readonly string[] | undefined;
}

/** The part of `ServiceModule` that concerns the configuration. */
export interface Configurable {
  readonly name: string;
  readonly built?: readonly string[];
  readonly settings: SettingsTable;
}

type Environment = Readonly<Record<string, string | undefined>>;

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/* Name, default, rule. The settings of a service are in its own `settings.ts`. */
// prettier-ignore
const table = {
  host:           text('HOST', '127.0.0.1', 'a host name or an address', (value) => !/\s/.test(value)),
  port:           integer('PORT', 4000, { min: 0, max: 65_535 }),
  publicUrl:      optional('PLINTH_PUBLIC_URL', 'an http or https URL like https://plinth.example.com, without a query', isPublicUrl),
  dataDir:        text('PLINTH_DATA_DIR', '.plinth', 'a path', (value) => !value.includes('\0')),
  minFreeMb:      integer('PLINTH_MIN_FREE_MB', 64, { min: 48, max: 1_000_000 }),
  databaseUrl:    optional('DATABASE_URL', 'a URL like postgres://user:password@host:5432/database', isDatabaseUrl),
  rootToken:      optional('PLINTH_ROOT_TOKEN', 'at least 32 visible ASCII characters', (value) => /^[!-~]{32,512}$/.test(value)),
  masterKey:      optional('PLINTH_MASTER_KEY', '32 bytes in base64', (value) => masterKeyForm.test(value)),
  previousMasterKey: optional('PLINTH_MASTER_KEY_PREVIOUS', '32 bytes in base64', (value) => masterKeyForm.test(value)),
  contract:       choice('PLINTH_CONTRACT', 'fast', ['fast', 'strict']),
  anonymous:      optional('PLINTH_ANONYMOUS', '"root" or unset', (value) => value === 'root'),
  services:       list('PLINTH_SERVICES', 'names of services, separated by commas', (name) => /^[a-z]+$/.test(name)),
  workers:        integer('PLINTH_WORKERS', 1, { min: 1, max: 256 }),
  operatorTenant: text('PLINTH_OPERATOR_TENANT', 'default', '1-64 characters of A-Za-z0-9._-', (value) => /^[\w.-]{1,64}$/.test(value)),
  operatorApp:    text('PLINTH_OPERATOR_APP', 'default', '1-64 characters of A-Za-z0-9._-', (value) => /^[\w.-]{1,64}$/.test(value)),
  privateTargets: optional('PLINTH_ALLOW_PRIVATE_TARGETS', '"true" or "false"', (value) => /^(true|false)$/.test(value)),
  trustedProxy:   list('PLINTH_TRUSTED_PROXY', 'addresses and CIDRs, separated by commas', (value) => canonicalRange(value) !== undefined),
  corsOrigins:    list('PLINTH_CORS_ORIGINS', '* or origins like https://app.example.com, separated by commas', isOrigin),
  databaseConnections: integer('PLINTH_DATABASE_CONNECTIONS', 20, { min: 8, max: 500 }),
  drainMs:        duration('PLINTH_DRAIN', '0s', { min: '0s', max: '5m' }),
  nodeEnv:        text('NODE_ENV', 'development', 'a word', (value) => /^[\w-]+$/.test(value)),
  logLevel:       choice('PLINTH_LOG', 'info', logLevels),
};

/**
 * Reads the configuration of these services. Throws a `SettingError`, whose message is a sentence that names the setting to change but
 * does not repeat its value, which may be a secret.
 */
export function readConfig(
  services: readonly Configurable[],
  flags: Flags = {},
  environment: Environment = process.env,
): Config {
  checkNames(services, environment);
  const given = withFlags(environment, flags);
  const { contract, anonymous, nodeEnv, privateTargets, publicUrl, operatorTenant, operatorApp, ...values } =
    readSettings(table, given);
  const production = nodeEnv === 'production' || !isLoopback(values.host);
  const settings = new Map(
    services.map((service) => [service.settings, readSettings(service.settings, given)]),
  );
  if (anonymous !== '') checkAnonymous(values.host, nodeEnv);
  if (values.workers > 1 && values.databaseUrl === '') {
    throw new SettingError(
      'PLINTH_WORKERS must be 1 without DATABASE_URL: only one process can have the embedded database open',
    );
  }
  return Object.freeze({
    ...values,
    operator: Object.freeze({ tenant: operatorTenant, app: operatorApp }),
    databaseUrl: values.databaseUrl || undefined,
    rootToken: values.rootToken || undefined,
    masterKey: values.masterKey || undefined,
    previousMasterKey: values.previousMasterKey || undefined,
    publicUrl: publicUrl.replace(/\/+$/, '') || undefined,
    production,
    allowPrivateTargets: privateTargets === '' ? !production : privateTargets === 'true',
    strict: contract === 'strict',
    anonymousRoot: anonymous !== '',
    exportsSpans: isExported(environment),
    services: chosen(
      services,
      flags.services ?? values.services,
      flags.services === undefined ? 'PLINTH_SERVICES' : 'serve',
    ),
    remotes: remotesOf(services, environment),
    settingsOf<Table extends SettingsTable>(service: { readonly settings: Table }) {
      return (settings.get(service.settings) ?? readSettings(service.settings, given)) as SettingsOf<Table>;
    },
  });
}

/** Whether only this machine can reach a server that listens on `host`. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || isLoopbackAddress(host) === true;
}

const isLoopbackAddress = compileRanges(['127.0.0.0/8', '::1']);

function withFlags(environment: Environment, { port, host, data }: Flags): Environment {
  return {
    ...environment,
    ...(port === undefined ? {} : { PORT: port }),
    ...(host === undefined ? {} : { HOST: host }),
    ...(data === undefined ? {} : { PLINTH_DATA_DIR: data }),
  };
}

/**
 * In production the addresses in tokens, links and documents must be those that clients use, which the server cannot know by itself.
 * Throws a `SettingError` when the public URL is not set.
 */
export function checkPublicUrl({ production, publicUrl, host }: Config): void {
  if (!production || publicUrl !== undefined) return;
  const why = isLoopback(host) ? 'NODE_ENV is production' : `HOST is ${host}, which other machines reach`;
  throw new SettingError(
    `PLINTH_PUBLIC_URL must be set, since ${why}: it is the address under which clients reach the server, like https://plinth.example.com`,
  );
}

/** Names that the project uses but the server does not: the address that examples call, and the browser of the tests. */
const othersNames = ['PLINTH_URL', 'PLINTH_CHROMIUM'];

/** Refuses unknown names: a misspelt name would silently leave a limit or a key at its default. */
function checkNames(services: readonly Configurable[], environment: Environment): void {
  const known = [
    ...Object.values(table).map(({ name }) => name),
    ...services.flatMap(({ settings }) => Object.values(settings).map(({ name }) => name)),
    ...services.flatMap(({ name }) => [`${remotePrefix(name)}_URL`, `${remotePrefix(name)}_TOKEN`]),
    ...othersNames,
  ];
  for (const name of Object.keys(environment)) {
    if (!name.startsWith('PLINTH_') || known.includes(name)) continue;
    const bare = name.slice('PLINTH_'.length);
    const meant = known.includes(bare) ? bare : nearest(name, known);
    throw new SettingError(`${name} is not a setting; the nearest one is ${meant}`);
  }
}

function checkAnonymous(host: string, nodeEnv: string): void {
  if (nodeEnv === 'production')
    throw new SettingError('PLINTH_ANONYMOUS must be unset when NODE_ENV is production');
  if (!isLoopback(host))
    throw new SettingError(
      `PLINTH_ANONYMOUS must be unset unless HOST is a loopback address, and it is ${host}`,
    );
}

function chosen(services: readonly Configurable[], names: readonly string[], source: string): string[] {
  const known = services.map(({ name }) => name);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new SettingError(`${source} names the service ${unknown}, the services are ${known.join(', ')}`);
  // A service that is only partly implemented is served only when it is named.
  if (names.length === 0) return services.filter(({ built }) => built === undefined).map(({ name }) => name);
  return known.filter((name) => names.includes(name));
}

function remotesOf(services: readonly Configurable[], environment: Environment): Config['remotes'] {
  const remotes = services.flatMap(({ name }) => {
    const prefix = remotePrefix(name);
    const url = readSetting(optional(`${prefix}_URL`, 'an http or https URL', isHttpUrl), environment);
    const token = readSetting(
      optional(`${prefix}_TOKEN`, 'visible ASCII characters', (value) => /^[!-~]+$/.test(value)),
      environment,
    );
    if (url === '' && token === '') return [];
    if (url === '' || token === '')
      throw new SettingError(`${prefix}_URL and ${prefix}_TOKEN must be set together`);
    return [[name, { url: url.replace(/\/+$/, ''), token }] as const];
  });
  return Object.freeze(Object.fromEntries(remotes));
}

const remotePrefix = (service: string) => `PLINTH_${service.toUpperCase()}`;

function text(
  name: string,
  fallback: string,
  rule: string,
  accepts: (value: string) => boolean,
): Setting<string> {
  return { name, default: fallback, rule, parse: (value) => (accepts(value) ? value : undefined) };
}

/** A setting whose value is the empty string when it is unset. */
function optional(name: string, rule: string, accepts: (value: string) => boolean): Setting<string> {
  return text(name, '', rule, (value) => value === '' || accepts(value));
}

function list(name: string, rule: string, accepts: (item: string) => boolean): Setting<readonly string[]> {
  return {
    name,
    default: '',
    rule,
    parse(value) {
      const items = value
        .split(',')
        .map((item) => item.trim())
        .filter((item) => item !== '');
      return items.every(accepts) ? items : undefined;
    },
  };
}

function isDatabaseUrl(value: string): boolean {
  return URL.canParse(value) && /^postgres(ql)?:$/.test(new URL(value).protocol);
}

function isHttpUrl(value: string): boolean {
  return URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);
}

function isPublicUrl(value: string): boolean {
  if (!isHttpUrl(value)) return false;
  const { search, hash, username, password } = new URL(value);
  return [search, hash, username, password].every((part) => part === '');
}

/** Whether the value is exactly what a browser sends: no path, no trailing slash, no default port. */
function isOrigin(value: string): boolean {
  return value === '*' || (isHttpUrl(value) && new URL(value).origin === value);
}
