import { describe, expect, inject, it } from 'vitest';
import { testDatabase } from '../../testing/database.ts';
import { redisAnswers, redisUrl } from '../../testing/redis.ts';
import { childServer } from '../../testing/server.ts';
import { tools } from './testing.ts';

const answers = await redisAnswers();

describe.skipIf(!answers || inject('engine') === 'pglite')(
  'two servers with PLINTH_REDIS_URL, where a Redis answers on port 6379',
  { timeout: 60_000 },
  () => {
    it('count the uses of a key together, in Redis and not in the database', async () => {
      const db = await testDatabase({ services: ['authz', 'keys'] });
      const env = { DATABASE_URL: db.options.url ?? '', PLINTH_REDIS_URL: redisUrl };
      const start = () => childServer({ services: ['authz', 'keys'], env });
      const servers = await Promise.all([start(), start()]);
      try {
        const [first, second] = servers.map(tools);
        const { id: policy_id } = await first!.policy({ rate_limit: 5, rate_window: '1h' });
        const { raw_key } = await first!.issue({ policy_id });
        const codes: string[] = [];
        for (const api of [first!, second!, first!, second!, first!, second!, first!])
          codes.push((await api.judge(raw_key)).code);
        expect(codes).toEqual([...Array<string>(5).fill('VALID'), 'RATE_LIMITED', 'RATE_LIMITED']);
        expect(await db.sql`select key_id from keys.rate_windows`).toEqual([]);
      } finally {
        await Promise.all(servers.map((server) => server.kill()));
        await db.close();
      }
    });
  },
);
