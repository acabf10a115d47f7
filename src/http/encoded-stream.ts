import { setImmediate } from 'node:timers/promises';

/** Characters that are collected before they are sent, while the producer is fast. */
const batch = 16_384;

type Items = AsyncIterable<unknown>;

export const isItems = (value: unknown): value is Items =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value;

/**
 * Encodes a JSON value as it is produced: an array whose items arrive one by one, or an object with such arrays as members. An error of
 * the producer ends the text in the middle, so that it is no JSON.
 */
export const streamedJson = (value: unknown): AsyncIterable<Uint8Array> =>
  batched(isItems(value) ? arrayParts(value) : objectParts(value));

/** Characters of a list that are encoded at once, which takes some milliseconds. */
const mostAtOnce = 1_048_576;

/**
 * Encodes a list: a text, or pieces when it is so long that encoding it at once would hold up the requests of others. The items must
 * not change afterwards.
 */
export function encodedList(items: readonly unknown[]): string | AsyncIterable<Uint8Array> {
  const first = partOf(items, 0);
  return first.next === items.length ? `[${first.text}]` : laterParts(items, first);
}

async function* laterParts(items: readonly unknown[], first: Part): AsyncGenerator<Uint8Array, void> {
  yield Buffer.from(`[${first.text}`);
  for (let part = first; part.next < items.length;) {
    await setImmediate();
    part = partOf(items, part.next);
    yield Buffer.from(`,${part.text}`);
  }
  yield Buffer.from(']');
}

/** Some items of a list, and the position of the one that follows. */
interface Part {
  readonly text: string;
  readonly next: number;
}

function partOf(items: readonly unknown[], from: number): Part {
  let text = '';
  let next = from;
  while (next < items.length && text.length < mostAtOnce) {
    const item: string | undefined = JSON.stringify(items[next]);
    text += `${next === from ? '' : ','}${item ?? 'null'}`;
    next++;
  }
  return { text, next };
}

/** Encodes items as lines of JSON (NDJSON). Bytes are lines that are already encoded. */
export const jsonLines = (items: Items): AsyncIterable<Uint8Array> => batched(lineParts(items));

/**
 * Waits for the first piece, so that an error before it can still become an error response. Returns the pieces with the first among
 * them.
 */
export async function begun(pieces: AsyncIterable<Uint8Array>): Promise<AsyncIterable<Uint8Array>> {
  const iterator = pieces[Symbol.asyncIterator]();
  const first = await iterator.next();
  return (async function* () {
    try {
      for (let next = first; !next.done; next = await iterator.next()) yield next.value;
    } finally {
      await iterator.return?.();
    }
  })();
}

async function* arrayParts(items: Items): AsyncGenerator<string, void> {
  let before = '[';
  for await (const item of items) {
    yield before + JSON.stringify(item);
    before = ',';
  }
  yield before === '[' ? '[]' : ']';
}

async function* objectParts(value: unknown): AsyncGenerator<string, void> {
  let before = '{';
  for (const [name, member] of Object.entries(value as object)) {
    if (member === undefined) continue;
    yield `${before}${JSON.stringify(name)}:`;
    before = ',';
    if (isItems(member)) yield* arrayParts(member);
    else yield JSON.stringify(member);
  }
  yield before === '{' ? '{}' : '}';
}

async function* lineParts(items: Items): AsyncGenerator<string, void> {
  for await (const item of items)
    yield item instanceof Uint8Array ? Buffer.from(item).toString() : `${JSON.stringify(item)}\n`;
}

/** Joins small parts while they arrive without a pause; the collected text is sent as soon as the producer has to wait. */
async function* batched(parts: AsyncGenerator<string, void>): AsyncGenerator<Uint8Array, void> {
  let text = '';
  let turn: Promise<boolean> | undefined;
  try {
    for (;;) {
      const next = parts.next();
      if (text !== '') {
        // One timer for all parts of a turn of the event loop, because a timer for each part costs more than the part.
        turn ??= setImmediate(true).finally(() => (turn = undefined));
        const isSlow = await Promise.race([next.then(() => false), turn]).catch(() => true);
        if (isSlow || text.length >= batch) {
          // The next part may fail while this one is sent; the failure is handled when the part is awaited.
          next.catch(() => {});
          yield Buffer.from(text);
          text = '';
        }
      }
      const { done, value } = await next;
      if (done) break;
      text += value;
    }
    if (text !== '') yield Buffer.from(text);
  } finally {
    // Not awaited: a producer that waits returns only after its next part.
    parts.return().catch(() => {});
  }
}
