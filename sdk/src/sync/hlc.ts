/** Hybrid logical clocks: milliseconds, a counter within the millisecond, and the node, which decides between equal readings. */

/** A reading of a clock, spelled as on the wire. */
export interface Hlc {
  readonly timestamp: number;
  readonly counter: number;
  readonly node_id: string;
}

export const latestTimestamp = 2 ** 47 - 1;
export const latestCounter = 2 ** 16 - 1;

/** The zero reading, which means none. */
export const unset: Hlc = { timestamp: 0, counter: 0, node_id: '' };

export const isUnset = ({ timestamp, counter }: Hlc): boolean => timestamp === 0 && counter === 0;

/** Returns -1, 0 or 1. Node ids are ASCII, so the order of their characters is that of their bytes. */
export function compare(a: Hlc, b: Hlc): -1 | 0 | 1 {
  if (a.timestamp !== b.timestamp) return a.timestamp < b.timestamp ? -1 : 1;
  if (a.counter !== b.counter) return a.counter < b.counter ? -1 : 1;
  if (a.node_id !== b.node_id) return a.node_id < b.node_id ? -1 : 1;
  return 0;
}

/** The reading for a new event at a node whose last reading is `own` and whose physical clock shows `wall`. */
export function tick(own: Hlc, wall: number): Hlc {
  const { timestamp, counter, node_id } = own;
  if (wall > timestamp) return bounded(Math.trunc(wall), 0, node_id);
  if (counter < latestCounter) return { timestamp, counter: counter + 1, node_id };
  return bounded(timestamp + 1, 0, node_id);
}

/** The reading of a node after it has seen `remote`: later than both. */
export function receive(own: Hlc, remote: Hlc, wall: number): Hlc {
  const isLater =
    remote.timestamp > own.timestamp || (remote.timestamp === own.timestamp && remote.counter > own.counter);
  const { timestamp, counter } = isLater ? remote : own;
  return tick({ timestamp, counter, node_id: own.node_id }, wall);
}

function bounded(timestamp: number, counter: number, node_id: string): Hlc {
  if (!(timestamp >= 0 && timestamp <= latestTimestamp))
    throw new RangeError(`clock: ${timestamp} is not between 0 and ${latestTimestamp}`);
  return { timestamp, counter, node_id };
}

const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0');

/** The text form: 12 hexadecimal digits, 4 for the counter, the node. Its byte order is the order of the clock. */
export const toText = ({ timestamp, counter, node_id }: Hlc): string =>
  `${hex(timestamp, 12)}-${hex(counter, 4)}-${node_id}`;

const textForm = /^([0-7][0-9a-f]{11})-([0-9a-f]{4})-((?:[A-Za-z0-9_@][A-Za-z0-9_.:@-]{0,63})?)$/;

/** Reads the text form; undefined for any other text. */
export function parseText(text: string): Hlc | undefined {
  const [, timestamp, counter, node_id] = textForm.exec(text) ?? [];
  if (timestamp === undefined || counter === undefined || node_id === undefined) return undefined;
  return { timestamp: parseInt(timestamp, 16), counter: parseInt(counter, 16), node_id };
}

/** Reads a text that `toText` wrote. */
export const fromText = (text: string): Hlc => ({
  timestamp: parseInt(text.slice(0, 12), 16),
  counter: parseInt(text.slice(13, 17), 16),
  node_id: text.slice(18),
});

/** The node in the text form of a reading. */
export const nodeOf = (text: string): string => text.slice(18);

/** A reading without its node as one number, as which arrival stamps are stored. */
export const pack = ({ timestamp, counter }: Pick<Hlc, 'timestamp' | 'counter'>): bigint =>
  (BigInt(timestamp) << 16n) | BigInt(counter);

export const unpack = (packed: bigint, node_id: string): Hlc => ({
  timestamp: Number(packed >> 16n),
  counter: Number(packed & 0xffffn),
  node_id,
});
