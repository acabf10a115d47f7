/** Access tokens for clients, against a standalone `oidc-provider` on the same database. */
import { load } from '../load.ts';
import { withPlace } from '../place.ts';
import { start, withServers } from '../process.ts';
import { atLeast, forOrientation, notMeasured, round, type Row } from '../row.ts';
import { paired, type Paired } from '../statistics.ts';
import { isToken, ourParty, peerParty, tokenRequest, type Party } from './oauth-requests.ts';

const path = 'token by client credentials, JWT by ES256, 32 connections';

export function token(): AsyncIterable<Row> {
  return withPlace(async function* (place) {
    const { url } = place;
    if (url === undefined) {
      yield notMeasured(path, '≥ 0.9 ×', 'the peer has no adapter for the embedded database');
      return;
    }
    yield* withServers(
      [
        place.serve({ PLINTH_AUTH_RATE_LIMIT: 'off' }),
        start('oidc-provider', [url, 'noted']),
        start('oidc-provider', [url]),
      ],
      async function* (plinth, noting, bare) {
        const ours = rate(await ourParty(plinth.port));
        const beside = await paired(ours, rate(peerParty(noting.port)), 3);
        yield atLeast(beside.ratio, 0.9, {
          path,
          baseline: 'oidc-provider that notes each token in the database, as ours',
          measured: told(beside),
        });
        const without = await paired(ours, rate(peerParty(bare.port)), 3);
        yield forOrientation(without.ratio, {
          path,
          baseline: 'oidc-provider that notes none, so that none can be ended',
          measured: told(without),
        });
      },
    );
  });
}

const rate = (party: Party) => {
  const requests = tokenRequest(party);
  return async () => (await load({ port: party.port, requests, contains: isToken })).rate;
};

const told = ({ a, b }: Paired) => `${round(a)}/s against ${round(b)}/s`;
