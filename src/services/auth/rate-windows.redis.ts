import type { Redis } from '../../db/redis.ts';
import type { CountWithin } from './rate-limits.ts';

/**
 * The algorithm of `ownWindows` on a hash `{minute, count, before}` for each key; its windows begin with the minutes of Redis's clock.
 * Redis runs a script as a whole, so of many who ask at once no more than `most` are counted.
 */
const countScript = `
local time = redis.call('TIME')
local minutes = (tonumber(time[1]) + tonumber(time[2]) / 1000000) / 60
local minute = math.floor(minutes)
local rest = 1 - (minutes - minute)
local row = redis.call('HMGET', KEYS[1], 'minute', 'count', 'before')
local kept = tonumber(row[1] or '-1')
local count, before = 0, 0
if kept == minute then
  count, before = tonumber(row[2]), tonumber(row[3])
elseif kept == minute - 1 then
  before = tonumber(row[2])
end
if count + before * rest >= tonumber(ARGV[1]) then return math.max(1, math.ceil(rest * 60)) end
redis.call('HSET', KEYS[1], 'minute', minute, 'count', count + 1, 'before', before)
redis.call('EXPIRE', KEYS[1], 120)
return 0
`;

/** An answer that takes longer is none: a sign-in does not wait for a counter. */
const patienceMs = 500;

/** Counts in Redis, for all processes that share one. Rejects where it does not answer. */
export function sharedWindows(redis: Pick<Redis, 'eval' | 'status'>): CountWithin {
  return async (key, most) => {
    if (redis.status !== 'ready') throw new Error(`the connection to redis is ${redis.status}`);
    const silence = AbortSignal.timeout(patienceMs);
    const answer = await Promise.race([
      redis.eval(countScript, 1, `plinth:auth:rate:${key}`, most),
      new Promise<never>((_, reject) =>
        silence.addEventListener('abort', () => reject(new Error('redis does not answer'))),
      ),
    ]);
    return Number(answer);
  };
}
