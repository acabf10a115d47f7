import { Redis } from 'ioredis';

const url = 'redis://127.0.0.1:6379';

/** The Redis server on the loopback port, if there is one. */
export async function redisUrl(): Promise<string | undefined> {
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null, connectTimeout: 1_000 });
  redis.on('error', () => {});
  try {
    await redis.connect();
    await redis.ping();
    return url;
  } catch {
    return undefined;
  } finally {
    redis.disconnect();
  }
}
