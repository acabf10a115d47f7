/** Token introspection against a standalone `oidc-provider`, which can introspect only opaque tokens. */
import { load, type Request } from '../load.ts';
import { withPlace } from '../place.ts';
import { start, withServers } from '../process.ts';
import { atLeast, notMeasured, round, type Row } from '../row.ts';
import { sized } from '../scale.ts';
import { paired } from '../statistics.ts';
import { introspections, isActive, opaqueResource, ourParty, peerParty } from './oauth-requests.ts';

const path = 'introspection of an access token, 32 connections';

export function introspect(): AsyncIterable<Row> {
  return withPlace(async function* (place) {
    const { url } = place;
    if (url === undefined) {
      yield notMeasured(path, '≥ 0.9 ×', 'the peer has no adapter for the embedded database');
      return;
    }
    yield* withServers(
      [place.serve({ PLINTH_AUTH_RATE_LIMIT: 'off' }), start('oidc-provider', [url])],
      async function* (plinth, peer) {
        const count = sized(500, 50);
        const mine = await introspections(await ourParty(plinth.port), count);
        const others = await introspections(peerParty(peer.port), count, opaqueResource);
        const { ratio, a, b } = await paired(rate(plinth.port, mine), rate(peer.port, others), 3);
        yield atLeast(ratio, 0.9, {
          path: `${path}: a JWT`,
          baseline: 'oidc-provider, an opaque one',
          measured: `${round(a)}/s against ${round(b)}/s`,
        });
      },
    );
  });
}

const rate = (port: number, requests: Request[]) => async () =>
  (await load({ port, requests, contains: isActive })).rate;
