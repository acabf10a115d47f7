import { describe, expect, test } from 'vitest';
import type { Database } from '../../../db/index.ts';
import type { BlobReader } from './blob-reader.ts';
import { createOutgoing, type Pieces } from './outgoing.ts';
import { createTransfers } from './transfers.ts';

const unused = undefined as unknown as { db: Database; readBlob: BlobReader };

/** Pieces that note whether they were closed. */
function made(count: number, fails = false) {
  const state = { closed: false };
  async function* pieces(): Pieces {
    try {
      for (let piece = 0; piece < count; piece++) yield new Uint8Array([await Promise.resolve(piece)]);
      if (fails) throw new Error('damaged');
    } finally {
      state.closed = true;
    }
  }
  return { state, pieces: pieces() };
}

describe('a transfer', () => {
  const transfers = createTransfers(1);
  const { begun } = createOutgoing({ ...unused, transfers });

  test('lasts until the last piece', async () => {
    const { pieces, state } = made(3);
    const sent = await begun('acme', pieces);
    const found: number[] = [];
    for await (const [piece] of sent) {
      expect(transfers.active()).toBe(1);
      found.push(piece!);
    }
    expect(found).toEqual([0, 1, 2]);
    expect([transfers.active(), state.closed]).toEqual([0, true]);
  });

  test.each([0, 1])('ends when its reader goes after %i pieces', async (count) => {
    const { pieces, state } = made(3);
    const sent = await begun('acme', pieces);
    for (let piece = 0; piece < count; piece++) await sent.next();
    await sent.return();
    expect([transfers.active(), state.closed]).toEqual([0, true]);
    expect((await sent.next()).done).toBe(true);
  });

  test.each([0, 1])('ends when piece %i cannot be read', async (count) => {
    const read = async () => {
      for await (const _ of await begun('acme', made(count, true).pieces)) expect(transfers.active()).toBe(1);
    };
    await expect(read()).rejects.toThrow('damaged');
    expect(transfers.active()).toBe(0);
  });

  test('without pieces ends at once', async () => {
    const sent = await begun('acme', made(0).pieces);
    expect((await sent.next()).done).toBe(true);
    expect(transfers.active()).toBe(0);
  });

  test('is refused when there are too many', async () => {
    const sent = await begun('acme', made(1).pieces);
    await expect(begun('acme', made(1).pieces)).rejects.toThrow('too many active transfers');
    await sent.return();
  });
});
