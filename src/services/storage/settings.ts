import { choice, duration, integer, type SettingsOf, text } from '../../lib/settings.ts';

const gibibyte = 1024 ** 3;
const mostCounted = 999_999_999_999_999;

/** The settings that the service reads from the environment. Durations are in milliseconds. */
export const settings = {
  /** The beginning of every path. */
  basePath: text(
    'PLINTH_STORAGE_BASE_PATH',
    '/store/v1',
    'a path like /store/v1, without a slash at its end',
    /^(\/[A-Za-z0-9._~-]+)+$/,
  ),
  /** The directory of the content; by default `storage` in the data directory. It must be on one file system. */
  dir: text('PLINTH_STORAGE_DIR', '', 'a path', /^[^\0]{0,4096}$/),
  /** `off`: content that was acknowledged may be lost when the machine fails. For tests and benchmarks only. */
  fsync: choice('PLINTH_STORAGE_FSYNC', 'on', ['on', 'off']),
  /** The most bytes of content that is kept in the database instead of in a file. */
  inlineMax: integer('PLINTH_STORAGE_INLINE_MAX', 16_384, { min: 0, max: 65_536 }),
  /** The most bytes of an object or a part that arrives in one request. */
  maxObjectBytes: integer('PLINTH_STORAGE_MAX_OBJECT_BYTES', 5 * gibibyte, { min: 1, max: 5 * gibibyte }),
  /** The fewest bytes of a part that is not the last one. */
  minPartBytes: integer('PLINTH_STORAGE_MIN_PART_BYTES', 0, { min: 0, max: gibibyte }),
  /** The most contents that each process receives or sends at once; one tenant gets at most four of five. */
  maxTransfers: integer('PLINTH_STORAGE_MAX_TRANSFERS', 256, { min: 1, max: 10_000 }),
  /** How long a client may neither send nor take anything. */
  idleTimeoutMs: duration('PLINTH_STORAGE_IDLE_TIMEOUT', '30s', { min: '1s', max: '10m' }),
  /** The quotas of tenants for which no other ones are set; 0 means no limit. */
  tenantQuotaBytes: integer('PLINTH_STORAGE_TENANT_QUOTA_BYTES', 0, { min: 0, max: mostCounted }),
  tenantQuotaObjects: integer('PLINTH_STORAGE_TENANT_QUOTA_OBJECTS', 0, { min: 0, max: mostCounted }),
  /** `off`: content is sent without comparing it with its checksums. */
  verifyReads: choice('PLINTH_STORAGE_VERIFY_READS', 'on', ['on', 'off']),
  /** How long content that nothing refers to is kept for those who are still reading it. */
  gcGraceMs: duration('PLINTH_STORAGE_GC_GRACE', '1h', { min: '1m', max: '720h' }),
  /** How old a file that the database does not know must be before it is deleted. */
  orphanGraceMs: duration('PLINTH_STORAGE_ORPHAN_GRACE', '24h', { min: '2h', max: '720h' }),
  /** The keys that sign links, the first of which signs; by default one that the database keeps, sealed. */
  signingKeys: text(
    'PLINTH_STORAGE_SIGNING_KEYS',
    '',
    'kid:key,… with keys of 64 hexadecimal digits',
    /^([A-Za-z0-9_-]{1,64}:[0-9a-fA-F]{64}(,[A-Za-z0-9_-]{1,64}:[0-9a-fA-F]{64})*)?$/,
  ),
  /** A port on which the S3 interface is at the root, for clients that expect it there; 0 means none. */
  s3Port: integer('PLINTH_STORAGE_S3_PORT', 0, { min: 0, max: 65_535 }),
  /** Where links point to, when that is not the address of the server. */
  publicUrl: text(
    'PLINTH_STORAGE_PUBLIC_URL',
    '',
    'an http or https URL without a slash at its end',
    /^(https?:\/\/[^\s?#]*[^\s?#/])?$/,
  ),
};

export type Settings = SettingsOf<typeof settings>;
