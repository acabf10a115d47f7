import ipaddr from 'ipaddr.js';
import { redisUrl } from '../../db/redis.ts';
import { choice, duration, integer, type Setting } from '../../lib/settings.ts';

const text = (name: string, fallback: string, rule: string, form: RegExp): Setting<string> => ({
  name,
  default: fallback,
  rule,
  parse: (value) => (form.test(value) ? value : undefined),
});

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
  rule: 'at most 100 CIDR ranges, separated by commas',
  parse(value) {
    const ranges = value
      .split(',')
      .map((range) => range.trim())
      .filter((range) => range !== '');
    return ranges.length <= 100 && ranges.every((range) => ipaddr.isValidCIDR(range)) ? ranges : undefined;
  },
};

/** What the service reads from the environment. Durations are milliseconds. */
export const settings = {
  /**
   * Where the paths of the service begin. The SDK, and servers that ask this one (`PLINTH_AUTH_URL`), call the default: they
   * need a proxy before another one, or the SDK a `fetch` that puts it into the address.
   */
  basePath: text(
    'PLINTH_AUTH_BASE_PATH',
    '/v1/auth',
    'a path like /v1/auth, without a slash at its end',
    /^(\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*){1,8}$/,
  ),
  /** The public address of the service, without a slash at its end; unset it is where the server listens. */
  issuer: text('PLINTH_AUTH_ISSUER', '', 'an http:// or https:// URL', /^(https?:\/\/[^\s?#]+)?$/),
  /** What the platform's own services are called in access tokens. */
  audience: text('PLINTH_AUTH_AUDIENCE', 'urn:plinth:api', 'an absolute URI', /^[a-z][a-z0-9+.-]*:[^\s#]+$/i),
  host: text('HOST', '127.0.0.1', 'a host name or an address', /^\S+$/),
  port: integer('PORT', 4000, { min: 0, max: 65_535 }),
  hashCost,
  /** Per-IP limits; the throttle of an account is always on. `auto` is `on` in production. */
  rateLimit: choice('PLINTH_AUTH_RATE_LIMIT', 'auto', ['auto', 'on', 'off']),
  /** Where all processes count requests by address together; unset, each counts alone. */
  redisUrl,
  /** Principals that are kept in memory at most. */
  cache: integer('PLINTH_AUTH_CACHE', 50_000, { min: 0, max: 1_000_000 }),
  /** How recent a sign-in has to be for what ends or changes an account; 0 asks for a session only. */
  fresh: duration('PLINTH_AUTH_FRESH', '0s', { min: '0s', max: '24h' }),
  /** The name beside the account in authenticator apps. */
  totpName: text('PLINTH_AUTH_TOTP_NAME', 'Plinth', '1-64 characters without a colon', /^[^:\p{Cc}]{1,64}$/u),
  /** `auto` is `smtp` where PLINTH_AUTH_SMTP_URL is set, else `outbox` outside production. */
  mail: choice('PLINTH_AUTH_MAIL', 'auto', ['auto', 'outbox', 'smtp']),
  smtpUrl: text('PLINTH_AUTH_SMTP_URL', '', 'an smtp:// or smtps:// URL', /^(smtps?:\/\/\S+)?$/),
  mailFrom: text('PLINTH_AUTH_MAIL_FROM', 'Plinth <no-reply@localhost>', 'an address', /^[^\r\n]{3,320}$/),
  /** `auto` is `http` where PLINTH_AUTH_SMS_URL is set, else `outbox` outside production. */
  sms: choice('PLINTH_AUTH_SMS', 'auto', ['auto', 'outbox', 'http']),
  smsUrl: text('PLINTH_AUTH_SMS_URL', '', 'an http:// or https:// URL', /^(https?:\/\/\S+)?$/),
  /** CIDR ranges that webhooks may reach though they are private. */
  allowNetworks,
  smsSecret: text('PLINTH_AUTH_SMS_SECRET', '', 'whsec_ and base64', /^(whsec_[A-Za-z0-9+/]+=*)?$/),
};
