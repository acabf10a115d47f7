import { describe, expect, it } from 'vitest';
import { boundedQueue } from './hash-queue.ts';

/** Work that ends when the test says so. */
function fakeWork() {
  const ends: (() => void)[] = [];
  let running = 0;
  let most = 0;
  const work = async (name: string) => {
    most = Math.max(most, ++running);
    await new Promise<void>((resolve) => ends.push(resolve));
    running -= 1;
    return name;
  };
  return {
    work,
    most: () => most,
    begun: () => ends.length,
    /** Ends what began first and has not ended, and lets the next begin. */
    endOne: async () => {
      ends.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

const full = { kind: 'rateLimited', retryAfter: 1 };

describe('the queue', () => {
  it('runs so many at once and the others in the order they came', async () => {
    const { work, most, begun, endOne } = fakeWork();
    const queue = boundedQueue(2, 3);
    const done: string[] = [];
    const all = ['a', 'b', 'c', 'd', 'e'].map((name) =>
      queue.run(() => work(name)).then((one) => done.push(one)),
    );
    expect(begun()).toBe(2);
    for (let n = 0; n < 5; n += 1) await endOne();
    await Promise.all(all);
    expect(done).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(most()).toBe(2);
  });

  it('refuses at once who finds it full', async () => {
    const { work, begun, endOne } = fakeWork();
    const queue = boundedQueue(1, 1);
    const [running, waiting] = [queue.run(() => work('running')), queue.run(() => work('waiting'))];
    await expect(queue.run(() => work('refused'))).rejects.toMatchObject(full);
    expect(() => queue.checkRoom()).toThrow(expect.objectContaining(full) as Error);
    expect(begun()).toBe(1);
    await endOne();
    queue.checkRoom();
    await endOne();
    expect(await Promise.all([running, waiting])).toEqual(['running', 'waiting']);
    const later = queue.run(() => work('later'));
    await endOne();
    expect(await later).toBe('later');
  });

  it('who goes away while waiting leaves the place to others', async () => {
    const { work, endOne } = fakeWork();
    const queue = boundedQueue(1, 1);
    const client = new AbortController();
    const running = queue.run(() => work('running'));
    const gone = queue.run(() => work('gone'), client.signal);
    client.abort();
    await expect(gone).rejects.toMatchObject(full);
    const other = queue.run(() => work('other'));
    await endOne();
    await endOne();
    expect(await Promise.all([running, other])).toEqual(['running', 'other']);
  });

  it('does nothing for who has gone already, and finishes what has begun', async () => {
    const { work, begun, endOne } = fakeWork();
    const queue = boundedQueue(1, 1);
    const client = new AbortController();
    const running = queue.run(() => work('running'), client.signal);
    client.abort();
    await expect(queue.run(() => work('gone'), client.signal)).rejects.toMatchObject(full);
    expect(begun()).toBe(1);
    await endOne();
    expect(await running).toBe('running');
  });

  it('work that fails gives its place on', async () => {
    const queue = boundedQueue(1, 1);
    const failing = queue.run(() => Promise.reject(new Error('no')));
    const next = queue.run(() => Promise.resolve('next'));
    await expect(failing).rejects.toThrow('no');
    expect(await next).toBe('next');
  });
});
