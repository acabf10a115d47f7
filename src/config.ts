import { BlockList, isIP } from 'node:net';
import {
  choice,
  integer,
  readSetting,
  readSettings,
  type Setting,
  SettingError,
  type SettingsOf,
  type SettingsTable,
} from './lib/settings.ts';
import { masterKeyForm } from './master-key.ts';

/** Everything that the environment and the command line say, read once. */
export interface Config {
  readonly host: string;
  readonly port: number;
  /** The embedded database, the root token. */
  readonly dataDir: string;
  /** PostgreSQL; undefined means the embedded database. */
  readonly databaseUrl: string | undefined;
  /** Undefined means the one that is kept in the data directory. */
  readonly rootToken: string | undefined;
  /** 32 bytes in base64 that encrypt data at rest; undefined means the one that is kept in the data directory. */
  readonly masterKey: string | undefined;
  /** Still opens what it sealed. */
  readonly previousMasterKey: string | undefined;
  /** Requests and responses are judged by express-openapi-validator too. */
  readonly strict: boolean;
  /** Requests without credentials act as root. */
  readonly anonymousRoot: boolean;
  /** Names of the services that this process serves. */
  readonly services: readonly string[];
  /** Processes on one port. */
  readonly workers: number;
  readonly operatorTenant: string;
  /** Where needed services run that this process does not serve, by name. */
  readonly remotes: Readonly<Record<string, { readonly url: string; readonly token: string }>>;
  /** Addresses and CIDRs whose identity and forwarding headers count. */
  readonly trustedProxy: readonly string[];
  /** Origins whose pages may call, or `*`; none without any. */
  readonly corsOrigins: readonly string[];
  readonly production: boolean;
  /** Whether addresses that users give may be private ones and plain `http`; by default where only this machine can reach the server. */
  readonly allowPrivateTargets: boolean;
  readonly logLevel: (typeof logLevels)[number];
  /** The values of what a service declares in its `settings.ts`. */
  readonly settingsOf: <Table extends SettingsTable>(service: {
    readonly settings: Table;
  }) => SettingsOf<Table>;
}

/** What the command line may say; it wins over the environment. */
export interface Flags {
  readonly port?: string | undefined;
  readonly host?: string | undefined;
  readonly data?: string | undefined;
  /** `serve authz keys` */
  readonly services?: readonly string[] | undefined;
}

/** What `ServiceModule` has that concerns the configuration. */
export interface Configurable {
  readonly name: string;
  readonly built?: readonly string[];
  readonly settings: SettingsTable;
}

type Environment = Readonly<Record<string, string | undefined>>;

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/* Name, default, rule. What a service reads stands in its own `settings.ts`. */
// prettier-ignore
const table = {
  host:           text('HOST', '127.0.0.1', 'a host name or an address', (value) => !/\s/.test(value)),
  port:           integer('PORT', 4000, { min: 0, max: 65_535 }),
  dataDir:        text('PLINTH_DATA_DIR', '.plinth', 'a path', (value) => !value.includes('\0')),
  databaseUrl:    optional('DATABASE_URL', 'a URL like postgres://user:password@host:5432/database', isDatabaseUrl),
  rootToken:      optional('PLINTH_ROOT_TOKEN', 'at least 32 visible ASCII characters', (value) => /^[!-~]{32,512}$/.test(value)),
  masterKey:      optional('PLINTH_MASTER_KEY', '32 bytes in base64', (value) => masterKeyForm.test(value)),
  previousMasterKey: optional('PLINTH_MASTER_KEY_PREVIOUS', '32 bytes in base64', (value) => masterKeyForm.test(value)),
  contract:       choice('PLINTH_CONTRACT', 'fast', ['fast', 'strict']),
  anonymous:      optional('PLINTH_ANONYMOUS', '"root" or unset', (value) => value === 'root'),
  services:       list('PLINTH_SERVICES', 'names of services, separated by commas', (name) => /^[a-z]+$/.test(name)),
  workers:        integer('PLINTH_WORKERS', 1, { min: 1, max: 256 }),
  operatorTenant: text('PLINTH_OPERATOR_TENANT', 'default', '1-64 characters of A-Za-z0-9._-', (value) => /^[\w.-]{1,64}$/.test(value)),
  privateTargets: optional('PLINTH_ALLOW_PRIVATE_TARGETS', '"true" or "false"', (value) => /^(true|false)$/.test(value)),
  trustedProxy:   list('PLINTH_TRUSTED_PROXY', 'addresses and CIDRs, separated by commas', isRange),
  corsOrigins:    list('PLINTH_CORS_ORIGINS', '* or origins like https://app.example.com, separated by commas', isOrigin),
  nodeEnv:        text('NODE_ENV', 'development', 'a word', (value) => /^[\w-]+$/.test(value)),
  logLevel:       choice('PLINTH_LOG', 'info', logLevels),
};

/**
 * Reads the configuration of these services. Throws a `SettingError`, whose message is a sentence that names the value to change and
 * does not repeat it, since it may be a secret.
 */
export function readConfig(
  services: readonly Configurable[],
  flags: Flags = {},
  environment: Environment = process.env,
): Config {
  const given = withFlags(environment, flags);
  const { contract, anonymous, nodeEnv, privateTargets, ...values } = readSettings(table, given);
  const production = nodeEnv === 'production';
  const settings = new Map(
    services.map((service) => [service.settings, readSettings(service.settings, given)]),
  );
  if (anonymous !== '') checkAnonymous(values.host, production);
  if (values.workers > 1 && values.databaseUrl === '') {
    throw new SettingError(
      'PLINTH_WORKERS must be 1 without DATABASE_URL: only one process can have the embedded database open',
    );
  }
  return Object.freeze({
    ...values,
    databaseUrl: values.databaseUrl || undefined,
    rootToken: values.rootToken || undefined,
    masterKey: values.masterKey || undefined,
    previousMasterKey: values.previousMasterKey || undefined,
    production,
    allowPrivateTargets: privateTargets === '' ? isLoopback(values.host) : privateTargets === 'true',
    strict: contract === 'strict',
    anonymousRoot: anonymous !== '',
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
  return host === 'localhost' || loopback.check(host, isIP(host) === 6 ? 'ipv6' : 'ipv4');
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

function withFlags(environment: Environment, { port, host, data }: Flags): Environment {
  return {
    ...environment,
    ...(port === undefined ? {} : { PORT: port }),
    ...(host === undefined ? {} : { HOST: host }),
    ...(data === undefined ? {} : { PLINTH_DATA_DIR: data }),
  };
}

function checkAnonymous(host: string, production: boolean): void {
  if (production) throw new SettingError('PLINTH_ANONYMOUS must be unset when NODE_ENV is production');
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
  // One of which only a part is built is served where it is asked for.
  if (names.length === 0) return services.filter(({ built }) => built === undefined).map(({ name }) => name);
  return known.filter((name) => names.includes(name));
}

function remotesOf(services: readonly Configurable[], environment: Environment): Config['remotes'] {
  const remotes = services.flatMap(({ name }) => {
    const prefix = `PLINTH_${name.toUpperCase()}`;
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

function text(
  name: string,
  fallback: string,
  rule: string,
  accepts: (value: string) => boolean,
): Setting<string> {
  return { name, default: fallback, rule, parse: (value) => (accepts(value) ? value : undefined) };
}

/** The empty text when unset. */
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

/** Exactly as a browser sends it: no path, no slash at the end, no default port. */
function isOrigin(value: string): boolean {
  return value === '*' || (isHttpUrl(value) && new URL(value).origin === value);
}

function isRange(value: string): boolean {
  const [address = '', bits, ...rest] = value.split('/');
  const most = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
  return (
    rest.length === 0 && most > 0 && (bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most))
  );
}
