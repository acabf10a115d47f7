import { canonicalRange } from '../../lib/addresses.ts';
import { redisUrl } from '../../db/redis.ts';
import { choice, duration, integer, text, type Setting } from '../../lib/settings.ts';
import { messageSettings } from '../../notify/settings.ts';

/** Memory (KiB), passes and lanes of argon2id. */
export interface HashCost {
  readonly memoryCost: number;
  readonly timeCost: number;
  readonly parallelism: number;
}

const hashCost: Setting<HashCost> = {
  name: 'PLINTH_AUTH_ARGON2',
  default: 'm=19456,t=2,p=1',
  rule: 'like m=19456,t=2,p=1, with m from 7168 to 1048576, t from 1 to 10 and p from 1 to 4',
  parse(value) {
    const [, m, t, p] = (/^m=(\d{4,7}),t=(\d{1,2}),p=([1-4])$/.exec(value) ?? []).map(Number);
    if (m === undefined || t === undefined || p === undefined) return undefined;
    const within = m >= 7_168 && m <= 1_048_576 && t >= 1 && t <= 10;
    return within ? { memoryCost: m, timeCost: t, parallelism: p } : undefined;
  },
};

const allowNetworks: Setting<readonly string[]> = {
  name: 'PLINTH_AUTH_ALLOW_NETWORKS',
  default: '',
  rule: 'at most 100 addresses and CIDR ranges, separated by commas',
  parse(value) {
    const ranges = value
      .split(',')
      .map((range) => range.trim())
      .filter((range) => range !== '');
    return ranges.length <= 100 && ranges.every((range) => canonicalRange(range) !== undefined)
      ? ranges
      : undefined;
  },
};

const resourceUrls: Setting<readonly string[]> = {
  name: 'PLINTH_AUTH_RESOURCE_URLS',
  default: '',
  rule: 'at most 100 http:// or https:// URLs without a query, separated by commas',
  parse(value) {
    const urls = value
      .split(',')
      .map((url) => url.trim().replace(/\/+$/, ''))
      .filter((url) => url !== '');
    return urls.length <= 100 && urls.every((url) => /^https?:\/\/[^\s?#]+$/.test(url)) ? urls : undefined;
  },
};

/** The settings that the service reads from the environment. Durations are in milliseconds. */
export const settings = {
  /**
   * Prefix of the service's paths. The SDK and servers that ask this one (`PLINTH_AUTH_URL`) call the default, so another prefix
   * needs a proxy in front, or for the SDK a `fetch` that rewrites the URL.
   */
  basePath: text(
    'PLINTH_AUTH_BASE_PATH',
    '/v1/auth',
    'a path like /v1/auth, without a slash at its end',
    /^(\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*){1,8}$/,
  ),
  /** The public address of the service, without a trailing slash; when unset, it is derived from the server's address. */
  issuer: text('PLINTH_AUTH_ISSUER', '', 'an http:// or https:// URL', /^(https?:\/\/[^\s?#]+)?$/),
  /** The audience that access tokens name for the platform's own services. */
  audience: text('PLINTH_AUTH_AUDIENCE', 'urn:plinth:api', 'an absolute URI', /^[a-z][a-z0-9+.-]*:[^\s#]+$/i),
  /** Public base URLs of the platform's services, besides the issuer's: DPoP proofs name them. */
  resourceUrls,
  hashCost,
  /** Per-IP limits; the throttle of an account is always on. `auto` is `on` in production. */
  rateLimit: choice('PLINTH_AUTH_RATE_LIMIT', 'auto', ['auto', 'on', 'off']),
  /** The Redis in which all processes count requests by address together; when unset, each process counts on its own. */
  redisUrl,
  /** Maximum number of principals kept in memory. */
  cache: integer('PLINTH_AUTH_CACHE', 50_000, { min: 0, max: 1_000_000 }),
  /**
   * Whether programs may register themselves as OAuth clients: never (`off`), with a credential that has the scope `auth:write`
   * as their initial access token (`token`), or without any credential (`open`).
   */
  clientRegistration: choice('PLINTH_AUTH_CLIENT_REGISTRATION', 'off', ['off', 'token', 'open']),
  /** How recent a sign-in must be before an account can be changed or ended; 0 requires only a session. */
  fresh: duration('PLINTH_AUTH_FRESH', '0s', { min: '0s', max: '24h' }),
  /** The name that authenticator apps show beside the account. */
  totpName: text('PLINTH_AUTH_TOTP_NAME', 'Plinth', '1-64 characters without a colon', /^[^:\p{Cc}]{1,64}$/u),
  /**
   * How messages leave and how many, such as PLINTH_AUTH_SMTP_URL and PLINTH_AUTH_MAILS_PER_ADDRESS. Limits by network apply when PLINTH_AUTH_RATE_LIMIT does. The limit of mails per address is
   * over no longer a time than a reset token is valid, so anyone who exhausts it for others leaves them a link that works. Invitations
   * are counted against the account that sends them.
   */
  ...messageSettings('PLINTH_AUTH'),
  /** CIDR ranges that webhooks may reach although they are private. */
  allowNetworks,
};
