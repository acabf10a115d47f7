import { LRUCache } from 'lru-cache';
import { type Asked, type Found, type FoundOrNot, nameOfAsked, type objectStore } from './objects.store.ts';

/** How much memory of this process recently read objects may take. */
const mostBytes = 32 * 1024 ** 2;
/** About what an object takes besides its content and its metadata. */
const bytesWithout = 2048;
/** Content that was deleted is forgotten after this time; on the disk it is kept at least as long. */
const keptMs = 60_000;

/**
 * Finds objects, and remembers those that were read recently, with their short content. Each read asks the database whether what is
 * remembered is still current; it spares only fetching the rows again.
 */
export function recentObjects(store: Pick<ReturnType<typeof objectStore>, 'findAll' | 'unchanged'>) {
  const recent = new LRUCache<string, Found>({
    maxSize: mostBytes,
    sizeCalculation: sizeOf,
    ttl: keptMs,
    ttlAutopurge: true,
  });

  async function current(asked: readonly Asked[]): Promise<Map<string, FoundOrNot>> {
    const known = new Map<string, Found>();
    const ofKnown: Asked[] = [];
    for (const one of asked) {
      const name = nameOfAsked(one);
      const found = recent.get(name);
      if (found === undefined) continue;
      known.set(name, found);
      ofKnown.push(one);
    }
    if (known.size === 0) return known;
    const unchanged = await store.unchanged(
      ofKnown,
      [...known.values()].map(({ version }) => version),
    );
    for (const name of known.keys()) if (!unchanged.has(name)) known.delete(name);
    return known;
  }

  return async (asked: readonly Asked[]): Promise<Map<string, FoundOrNot>> => {
    const found = await current(asked);
    const rest = asked.filter((one) => !found.has(nameOfAsked(one)));
    if (rest.length === 0) return found;
    for (const [name, one] of await store.findAll(rest)) {
      found.set(name, one);
      if (one.object === undefined) recent.delete(name);
      else recent.set(name, one);
    }
    return found;
  };
}

function sizeOf({ object, blob }: Found): number {
  const metadata = Object.entries(object.metadata).reduce((sum, entry) => sum + entry.join('').length, 0);
  return bytesWithout + metadata + (blob?.content?.length ?? 0) + (blob?.blocks.length ?? 0);
}
