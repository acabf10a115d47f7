import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { bodyReader } from './body.ts';
import type { Body } from './operation.ts';

const body = { contentTypes: ['application/json'], limit: 1024 ** 2, required: true } as unknown as Body;
const read = bodyReader(body, undefined);
const request = (text: string): IncomingMessage =>
  Object.assign(Readable.from([Buffer.from(text)]), {
    headers: { 'content-type': 'application/json', 'content-length': String(text.length) },
  }) as unknown as IncomingMessage;

/** The turns of the event loop in which bodies that arrive at once are parsed. */
async function turnsOf(texts: readonly string[]): Promise<number[]> {
  let [turn, isOver] = [0, false];
  const count = () => {
    turn += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const turns = await Promise.all(
    texts.map(async (text) => {
      expect(await read(request(text))).toBe(JSON.parse(text));
      return turn;
    }),
  );
  isOver = true;
  return turns;
}

test('long bodies that arrive at once are parsed in a turn each, in their order', async () => {
  const long = JSON.stringify('x'.repeat(100_000));
  const turns = await turnsOf([long, long, long, long]);
  expect(new Set(turns).size).toBe(4);
  expect(turns).toEqual([...turns].sort((one, other) => one - other));
});

test('a short body waits for no long one', async () => {
  const long = JSON.stringify('x'.repeat(100_000));
  const [first, , , short] = (await turnsOf([long, long, long, '"short"'])) as [
    number,
    number,
    number,
    number,
  ];
  expect(short).toBeLessThanOrEqual(first);
});
