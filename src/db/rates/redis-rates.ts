import { Unavailable } from '../../lib/errors.ts';
import type { Redis } from '../redis.ts';
import { subBucketMs, type Holder, type RateStore } from './rates.ts';

/** The part of a Redis client that is used: running a script. */
export type Scripts = Pick<Redis, 'eval'>;

/**
 * The algorithm of the function `reserve`, see `stored-rates.ts`, on a hash `{sub, slot, counts, changed}` per holder. Redis runs a script atomically, and its
 * clock replaces the database's. `counts` are separated by commas, the newest sub-bucket first.
 */
const reserveScript = `
local limit, sub, want, min = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local time = redis.call('TIME')
local clock = tonumber(time[1]) * 1000 + tonumber(time[2]) / 1000
local row = redis.call('HMGET', KEYS[1], 'sub', 'slot', 'counts', 'changed')
local changed = tonumber(row[4] or '0')
if row[1] and tonumber(row[1]) ~= sub then
  if math.abs(clock - changed) < 2000 then sub = tonumber(row[1]) else changed = clock end
end
local slot = math.floor(clock / sub)
local counts = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
if row[1] and tonumber(row[1]) == sub then
  local ahead = tonumber(row[2]) - slot
  if ahead == 1 then slot = slot + 1 end
  local shift = ahead > 0 and 0 or -ahead
  local age = 1
  for count in string.gmatch(row[3], '%d+') do
    if age + shift <= 11 then counts[age + shift] = tonumber(count) end
    age = age + 1
  end
end
local used = 0
for age = 1, 11 do used = used + counts[age] end
local before = used
local granted = 0
if limit - used >= min then granted = math.max(math.min(want, limit - used), 0) end
if granted > 0 then
  counts[1] = counts[1] + granted
  used = used + granted
  redis.call('HSET', KEYS[1], 'sub', sub, 'slot', slot, 'counts', table.concat(counts, ','), 'changed', tostring(changed))
  redis.call('PEXPIRE', KEYS[1], sub * 22)
end
local wait, reset, freed = 0, 0, 0
if granted == 0 and min > limit then wait = -1 end
for age = 11, 1, -1 do
  local leaves = (slot - age + 12) * sub - clock
  if counts[age] > 0 and freed == 0 then reset = leaves end
  freed = freed + counts[age]
  if wait == 0 and granted == 0 and min > limit - before and used - freed + min <= limit then wait = leaves end
end
local left = math.min((slot + 1) * sub - clock, sub)
return {granted, tostring(left), used, tostring(wait), tostring(reset), slot}
`;

const giveBackScript = `
for index, key in ipairs(KEYS) do
  local sub, slot, units = ARGV[index * 3 - 2], tonumber(ARGV[index * 3 - 1]), tonumber(ARGV[index * 3])
  local row = redis.call('HMGET', key, 'sub', 'slot', 'counts')
  if row[1] == sub then
    local wanted = tonumber(row[2]) - slot + 1
    local counts, age = {}, 1
    for count in string.gmatch(row[3], '%d+') do
      counts[age] = age == wanted and math.max(tonumber(count) - units, 0) or tonumber(count)
      age = age + 1
    end
    redis.call('HSET', key, 'counts', table.concat(counts, ','))
  end
end
`;

/**
 * Counts rate units in Redis, for many machines that share it. `prefix` begins the names of the keys, which are those of one service
 * and one purpose. Each method throws `Unavailable` when Redis does not answer.
 */
export function redisRates(redis: Scripts, prefix: string): RateStore {
  const keyOf = ({ tenant, key }: Holder) => `${prefix}:${tenant}:${key}`;
  const unavailable = (cause: unknown) => {
    throw Unavailable('rate counter unavailable', { cause });
  };
  return {
    async reserve(holder, { limit, windowMs }, want, min) {
      const answer = await redis
        .eval(reserveScript, 1, keyOf(holder), limit, subBucketMs(windowMs), want, min)
        .catch(unavailable);
      if (!Array.isArray(answer)) throw new TypeError('the rate script answered no list');
      const [granted = 0, leftMs = 0, used = 0, wait = 0, resetMs = 0, slot = 0] = answer.map(Number);
      return { granted, leftMs, used, waitMs: wait < 0 ? null : wait, resetMs, slot };
    },

    async giveBack(rests) {
      const values = rests.flatMap(({ subMs, slot, units }) => [subMs, slot, units]);
      await redis.eval(giveBackScript, rests.length, ...rests.map(keyOf), ...values).catch(unavailable);
    },
  };
}
