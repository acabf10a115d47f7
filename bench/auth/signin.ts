/** Sign-in over HTTP against a server that only hashes, to show the cost of everything else. */
import { availableParallelism } from 'node:os';
import { hash, verify } from '@node-rs/argon2';
import { load } from '../load.ts';
import { withPlace } from '../place.ts';
import { start, withServers } from '../process.ts';
import { atLeast, forOrientation, round, type Row } from '../row.ts';
import { scale } from '../scale.ts';
import { paired, type Paired } from '../statistics.ts';
import { isTokenSet, password, signins } from './requests.ts';

const path = 'sign-in, 16 connections';
/** The default cost of a password hash. */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

export function signin(): AsyncIterable<Row> {
  return withPlace(async function* (place) {
    const hashing = start('hashing', [password, ...Object.values(cost).map(String)]);
    yield* withServers(
      [place.serve({ PLINTH_AUTH_RATE_LIMIT: 'off' }), hashing],
      async function* ({ port }, { port: hashingPort }) {
        const requests = await signins(port, 50);
        const seconds = 2;
        const ours = async () =>
          (await load({ port, requests, connections: 16, seconds, contains: isTokenSet })).rate;
        const hashes = async () =>
          (await load({ port: hashingPort, requests, connections: 16, seconds })).rate;
        const beside = await paired(ours, hashes, 3);
        yield atLeast(beside.ratio, 0.9, {
          path,
          baseline: 'Express and one argon2id verify a request, the same load',
          measured: told(beside),
        });
        const alone = await paired(ours, () => bare(seconds), 3);
        yield forOrientation(alone.ratio, {
          path,
          baseline: 'bare argon2id verify, no server, no load generator, no database',
          measured: told(alone),
        });
      },
    );
  });
}

const told = ({ a, b }: Paired) => `${round(a)}/s against ${round(b)}/s`;

/** Returns verifications per second with every core busy. */
async function bare(seconds: number): Promise<number> {
  const known = await hash(password, { ...cost, outputLen: 32 });
  const started = performance.now();
  const ends = started + seconds * 1000 * Math.max(scale, 0.15);
  let count = 0;
  const worker = async () => {
    while (performance.now() < ends) {
      await verify(known, password);
      count += 1;
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
  return (count / (performance.now() - started)) * 1000;
}
