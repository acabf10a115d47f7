/** The most keys that one statement asks for. */
const batch = 500;

interface Waiting<Key, Value> {
  readonly key: Key;
  readonly promise: Promise<Value | undefined>;
  resolve(value: Value | undefined): void;
  reject(error: unknown): void;
}

/**
 * Lets simultaneous reads share a statement. At most `width` statements are in flight, and the next one takes all reads that
 * arrived meanwhile, so under load statements grow in size and not in number. A read never joins a statement that was sent
 * before it, so its answer is at least as new as the read. `read` returns values by the names that `nameOf` computes.
 */
export function batchedReads<Key, Value>(
  read: (keys: Key[]) => Promise<ReadonlyMap<string, Value>>,
  nameOf: (key: Key) => string,
  width = 1,
): (key: Key) => Promise<Value | undefined> {
  const queue = new Map<string, Waiting<Key, Value>>();
  let reading = 0;
  let beginning = false;

  /** Waits for all requests that have already reached this process, which arrive one by one in a turn of the event loop. */
  function begin(): void {
    reading++;
    beginning = true;
    setImmediate(() => {
      beginning = false;
      void pump();
    });
  }

  async function pump(): Promise<void> {
    while (queue.size > 0) {
      const taken = [...queue].slice(0, batch);
      for (const [name] of taken) queue.delete(name);
      await run(taken);
    }
    reading--;
  }

  async function run(taken: [string, Waiting<Key, Value>][]): Promise<void> {
    try {
      const found = await read(taken.map(([, { key }]) => key));
      for (const [name, waiting] of taken) waiting.resolve(found.get(name));
    } catch (error) {
      for (const [, waiting] of taken) waiting.reject(error);
    }
  }

  return (key) => {
    const name = nameOf(key);
    const queued = queue.get(name);
    if (queued !== undefined) return queued.promise;
    const waiting = { key, ...Promise.withResolvers<Value | undefined>() };
    queue.set(name, waiting);
    if (reading < width && !beginning) begin();
    return waiting.promise;
  };
}
