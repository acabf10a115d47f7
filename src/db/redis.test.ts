import { pino } from 'pino';
import { expect, it } from 'vitest';
import { oddities, oddServer } from '../testing/odd-server.ts';
import { openRedis } from './redis.ts';

it.each(oddities)('a Redis that %s fails the commands, and nothing else', async (_, oddity) => {
  const port = await oddServer(oddity);
  const redis = openRedis(`redis://127.0.0.1:${port}`, pino({ level: 'silent' }), 200);
  const outcomes = await Promise.allSettled([redis.get('a'), redis.eval('return 1', 0), redis.get('b')]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  redis.disconnect();
});
