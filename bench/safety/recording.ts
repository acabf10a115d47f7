/** A scan over HTTP that is answered when it is stored, against the same server with a constant answer and one grouped insert. */
import { start, withServers } from '../process.ts';
import { onServer } from '../jobs/place.ts';
import { load } from '../load.ts';
import { headers } from '../place.ts';
import { atLeast, round, type Row } from '../row.ts';
import { paired } from '../statistics.ts';

const sentence =
  'Please review the attached report and tell me whether the figures of the last quarter are right. ';
/** About 1 KB of English, in which the built-in profile finds nothing. */
const body = { text: sentence.repeat(10) };

export function recording(): AsyncIterable<Row> {
  const path = 'POST scan/input over HTTP, durable, 32 connections';
  return onServer(path, '≥ 0.7 ×', async function* ({ url, place }) {
    const servers = [place.serve(), start('../safety/constant', [url])];
    yield* withServers(servers, async function* (plinth, constant) {
      const rate = async (port: number) =>
        (await load({ port, requests: { path: '/safety/v1/scan/input', headers, body }, contains: '"scan_' }))
          .rate;
      // Cold code of the engine is much slower than warm code, and a server is cold only once.
      for (let round = 0; round < 2; round++) for (const { port } of [plinth, constant]) await rate(port);
      const { ratio, a, b } = await paired(
        () => rate(plinth.port),
        () => rate(constant.port),
        3,
      );
      yield atLeast(ratio, 0.7, {
        path,
        baseline: 'the same server, a constant answer and one grouped insert',
        measured: `${round(a)}/s against ${round(b)}/s`,
      });
    });
  });
}
