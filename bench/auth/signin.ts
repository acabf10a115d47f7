/** Sign-in over HTTP against the hash alone: what the rest of it costs. */
import { availableParallelism } from 'node:os';
import { hash, verify } from '@node-rs/argon2';
import { load, type Request } from '../load.ts';
import { withPlace } from '../place.ts';
import { withServers } from '../process.ts';
import { atLeast, round, type Row } from '../row.ts';
import { paired } from '../statistics.ts';

const password = 'correct horse battery staple';
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1, outputLen: 32 };

export function signin(): AsyncIterable<Row> {
  return withPlace(async function* (place) {
    yield* withServers([place.serve({ PLINTH_AUTH_RATE_LIMIT: 'off' })], async function* (plinth) {
      const accounts = Array.from({ length: 50 }, (_, n) => ({
        email: `user-${n}@example.com`,
        password,
        app_id: 'default',
      }));
      const { port } = plinth;
      const url = `http://127.0.0.1:${port}/auth/v1/auth/signup`;
      for (const account of accounts)
        await fetch(url, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(account),
        });
      const requests = accounts.map((body): Request => ({
        method: 'POST',
        path: '/auth/v1/auth/signin',
        body,
      }));
      const ours = async () =>
        (await load({ port, requests, connections: 16, contains: 'session_token' })).rate;
      const { ratio, a, b } = await paired(ours, bare, 3);
      yield atLeast(ratio, 0.9, {
        path: 'sign-in, 16 connections',
        baseline: 'bare argon2id verify',
        measured: `${round(a)}/s against ${round(b)}/s`,
      });
    });
  });
}

/** Verifications per second with every core at work. */
async function bare(): Promise<number> {
  const known = await hash(password, cost);
  const seconds = 2;
  const ends = performance.now() + seconds * 1000;
  let count = 0;
  const worker = async () => {
    while (performance.now() < ends) {
      await verify(known, password);
      count += 1;
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
  return count / seconds;
}
