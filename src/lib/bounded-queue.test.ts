import { describe, expect, it } from 'vitest';
import { boundedBacklog, boundedQueue } from './bounded-queue.ts';

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
    /** Ends the oldest running work, and lets the next begin. */
    endOne: async () => {
      ends.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

const full = { kind: 'rateLimited', message: 'the server is busy: try again in a second', retryAfter: 1 };

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

  it('says how full it is and whom it refused, which is nobody who went away', async () => {
    const { work, endOne } = fakeWork();
    const queue = boundedQueue(1, 2);
    const client = new AbortController();
    expect(queue.load()).toEqual({ running: 0, waiting: 0, refused: 0 });
    const all = [1, 2, 3].map((n) => queue.run(() => work(String(n)), n === 2 ? client.signal : undefined));
    expect(queue.load()).toEqual({ running: 1, waiting: 2, refused: 0 });
    await expect(queue.run(() => work('refused'))).rejects.toMatchObject(full);
    expect(() => queue.checkRoom()).toThrow(expect.objectContaining(full) as Error);
    expect(queue.load()).toEqual({ running: 1, waiting: 2, refused: 2 });
    client.abort();
    await expect(all[1]).rejects.toMatchObject(full);
    expect(queue.load()).toEqual({ running: 1, waiting: 1, refused: 2 });
    await endOne();
    await endOne();
    await Promise.all([all[0], all[2]]);
    expect(queue.load()).toEqual({ running: 0, waiting: 0, refused: 2 });
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

describe('the backlog', () => {
  it('refuses while it is full, and says how full it is', () => {
    const backlog = boundedBacklog(3);
    backlog.checkRoom();
    backlog.add(4);
    expect(() => backlog.checkRoom()).toThrow(expect.objectContaining(full) as Error);
    expect(backlog.load()).toEqual({ running: 0, waiting: 4, refused: 1 });
    backlog.remove(2);
    backlog.checkRoom();
    expect(backlog.load()).toEqual({ running: 0, waiting: 2, refused: 1 });
  });
});
