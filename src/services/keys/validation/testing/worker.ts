import { Redis } from 'ioredis';
import { pino } from 'pino';
import type { ValidationRequest } from '../../../../../generated/keys/types.ts';
import { openDatabase } from '../../../../db/index.ts';
import { createLeases } from '../../../../db/rates/leases.ts';
import type { Rate } from '../../../../db/rates/rates.ts';
import { redisRates } from '../../../../db/rates/redis-rates.ts';
import { storedRates } from '../../../../db/rates/stored-rates.ts';
import { answerCommands } from '../../../../testing/worker-processes.ts';
import { openKeys } from './open-keys.ts';
import type { Start } from './workers.ts';

/** One process of the service, run by `workers.ts`. It executes its parent's commands and answers over the channel. */
const { url, dataDir, redisUrl, clockOffsetMs } = JSON.parse(process.argv[2] ?? '{}') as Start;
const realNow = Date.now;
Date.now = () => realNow() + clockOffsetMs;

const db = await openDatabase({ url, dataDir, log: pino({ level: 'silent' }) });
const service = await openKeys(db);
const redis = redisUrl === undefined ? undefined : new Redis(redisUrl);
const leases = createLeases(
  redis === undefined ? storedRates(db.sql, 'keys') : redisRates(redis, 'plinth:keys:rate'),
);
/** The monotonic clock belongs to the machine: with this offset the times of all processes can be compared. */
const offset = Number(process.hrtime.bigint()) / 1e6 - performance.now();
let rates: Record<string, Rate> = {};

type Asked = Pick<ValidationRequest, 'raw_key'> & Partial<ValidationRequest>;

const commands = {
  /** Takes units as fast as they are granted, with `loops` loops per key, and sends the time at which each was admitted. */
  async spend({ loops, ms, cost }: { loops: number; ms: number; cost: number }) {
    const end = performance.now() + ms;
    const admitted: Record<string, number[]> = {};
    const flush = () => {
      process.send?.({ admitted: { ...admitted } });
      for (const key of Object.keys(admitted)) delete admitted[key];
    };
    const timer = setInterval(flush, 20);
    const loop = async (key: string) => {
      while (performance.now() < end) {
        const rate = rates[key];
        if (rate === undefined) return;
        const admission = await Promise.resolve(leases.take({ tenant: 'acme', key }, rate, cost)).catch(
          () => undefined,
        );
        if (admission?.admitted) (admitted[key] ??= []).push(admission.at + offset);
        else await pause(Math.min(admission?.waitMs ?? 5, 5));
      }
    };
    await Promise.all(Object.keys(rates).flatMap((key) => Array.from({ length: loops }, () => loop(key))));
    clearInterval(timer);
    flush();
  },

  async setRates(next: Record<string, Rate>) {
    rates = next;
  },

  validate: ({ raw_key, ...request }: Asked) => service.validate(raw_key, request),

  /** Asks continuously for 5 seconds. Returns when the answer first had the given code, on the machine's monotonic clock. */
  async watch({ raw_key, code, ...request }: Asked & { code: string }) {
    const end = performance.now() + 5_000;
    while (performance.now() < end) {
      const result = await service.validate(raw_key, request).catch(() => undefined);
      if (result?.code === code) return performance.now() + offset;
      await pause(1);
    }
    throw new Error(`never answered ${code}`);
  },

  /** Returns when the answer was last valid. A question without an answer is abandoned for the next. */
  async lastValid({ raw_key, ms }: Asked & { ms: number }) {
    const end = performance.now() + ms;
    let last = 0;
    while (performance.now() < end) {
      const asked = service.validate(raw_key).catch(() => undefined);
      const result = await Promise.race([asked, pause(20)]);
      if (result?.valid) last = performance.now() + offset;
      await pause(1);
    }
    return last;
  },

  /** Validates and records until the process is killed or the time is over, and sends the answers. */
  async record({ raw_keys, loops, ms }: { raw_keys: string[]; loops: number; ms: number }) {
    const end = performance.now() + ms;
    const loop = async (index: number) => {
      while (performance.now() < end) {
        const raw_key = raw_keys[index++ % raw_keys.length] ?? '';
        const result = await service.validate(raw_key, { record: 'durable' }).catch(() => undefined);
        if (result !== undefined) process.send?.({ answered: { key: result.key?.id, id: result.usage_id } });
        else await pause(5);
      }
    };
    await Promise.all(Array.from({ length: loops }, (_, index) => loop(index)));
  },

  async close() {
    await service.close();
    await leases.stop();
    redis?.disconnect();
    await db.close();
    process.exit(0);
  },
} satisfies Record<string, (argument: never) => unknown>;

const pause = (ms: number) => new Promise<undefined>((resolve) => setTimeout(resolve, ms));

answerCommands(commands);
