/** Session checks for which every process has to ask the database, each once. */
import { load } from '../load.ts';
import { withPlace } from '../place.ts';
import { withServers } from '../process.ts';
import { atLeast, round, type Row } from '../row.ts';
import { sized } from '../scale.ts';
import { paired } from '../statistics.ts';
import { seedSessions, type SeededSession } from './data.ts';
import { isUser, me } from './requests.ts';

export function coldCheck(): AsyncIterable<Row> {
  return withPlace(async function* (place) {
    const [each, rounds] = [sized(8_000, 500), 5];
    const sessions = await place.use((db) => seedSessions(db, each * (rounds + 1)));
    yield* withServers([place.serve()], async function* ({ port }) {
      const rateOf = async (some: SeededSession[]) =>
        (await load({ port, requests: some.map(me), once: true, contains: isUser })).rate;
      let turn = 0;
      const { ratio, a, b } = await paired(
        () => rateOf(sessions.slice(turn * each, ++turn * each)),
        // The same sessions again, from the cache.
        () => rateOf(sessions.slice((turn - 1) * each, turn * each)),
        rounds,
      );
      yield atLeast(ratio, 0.6, {
        path: 'cold session check, every token once, with its account',
        baseline: 'the same sessions from the cache',
        measured: `${round(a)}/s against ${round(b)}/s`,
      });
    });
  });
}
