import type { Outbound } from '../../../lib/outbound.ts';
import type { Configuration } from 'oidc-provider';
import type { Clock } from '../../../db/clock.ts';
import { errors } from './oidc-library.ts';

/** The algorithms that clients may use to sign the JWTs by which they authenticate. */
export const assertionAlgorithms = ['ES256', 'RS256', 'PS256', 'Ed25519', 'EdDSA'] as const;

/** The longest time until an assertion may expire, because its use is remembered for as long. */
const longestSeconds = 3_600;

/** Checks of an assertion that the library leaves to us. @throws InvalidClientAuth */
export const checkAssertionBy =
  (clock: Clock): NonNullable<Configuration['assertJwtClientAuthClaimsAndHeader']> =>
  (_ctx, { exp, jti }) => {
    const ahead = typeof exp === 'number' ? exp - clock.now() / 1_000 : Infinity;
    if (!(ahead <= longestSeconds))
      throw new errors.InvalidClientAuth('exp: at most an hour ahead in a client_assertion');
    if (typeof jti !== 'string')
      throw new errors.InvalidClientAuth('jti: must be text in a client_assertion');
  };

const timeoutMs = 2_500;
/** This is more than ten keys of the largest kind need. */
const mostBytes = 64 * 1_024;

/** Fetches a client's keys for the library, with the same guard as every URL that another party chose. */
export const fetchBy =
  ({ send }: Pick<Outbound, 'send'>): NonNullable<Configuration['fetch']> =>
  async (input) => {
    const url = input instanceof Request ? input.url : String(input);
    const headers = { accept: 'application/json' };
    const { status, body, ...answer } = await send({
      url,
      method: 'GET',
      headers,
      timeoutMs,
      maxBytes: mostBytes,
    });
    const kept = Object.entries(answer.headers).flatMap(([name, value]) =>
      value === undefined || !told.has(name) ? [] : [[name, [value].flat().join(', ')] as [string, string]],
    );
    return new Response(new Uint8Array(body), { status, headers: kept });
  };

/** Headers that say for how long the keys may be cached. */
const told: ReadonlySet<string> = new Set(['cache-control', 'expires']);
