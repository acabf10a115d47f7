/**
 * Watermarks: arrival stamps that a node has seen, given out as clock readings of the server. `@<epoch>` names the life of the data
 * set; in a pull from the beginning, `@<epoch>:<stamp>` also says when that pull began.
 */
import type { Hlc } from '../../../../generated/sync/types.ts';
import { fromText, isUnset, pack, toText, unpack, unset } from '../../../../sdk/src/sync/hlc.ts';
import { Invalid } from '../../../lib/errors.ts';

/** Where a reader stands. */
export interface Position {
  /** Everything that arrived up to this stamp is known. */
  readonly stamp: bigint;
  /** The life of the data set to which the stamp belongs; undefined for a reading of any other clock, and at the beginning. */
  readonly epoch?: string;
  /** The stamp at which a pull from the beginning began, while it goes on. */
  readonly start?: bigint;
}

export const beginning: Position = { stamp: 0n };

/** Whether the reader has not yet seen everything that was there when it began. */
export const isFirstPull = ({ stamp, start }: Position): boolean => start !== undefined || stamp === 0n;

/** What the database says of a data set. */
export interface Life {
  /** The latest arrival stamp. */
  readonly clock: bigint;
  readonly epoch: string;
  /** The latest arrival of a deletion that was forgotten, in the tables that are read. */
  readonly horizon: bigint;
}

const ours = /^@([0-9a-f]{8})(?::([0-9a-f]{16}))?$/;

/** @param field the name of the member or parameter that holds it */
export function positionOf(since: Hlc, field: string): Position {
  if (isUnset(since)) return beginning;
  const stamp = pack(since);
  if (!since.node_id.startsWith('@') || since.node_id === '@clock') return { stamp };
  const [, epoch, start] = ours.exec(since.node_id) ?? [];
  if (epoch === undefined) throw Invalid(`${field}: not a reading that this server gave`);
  return { stamp, epoch, ...(start !== undefined && { start: BigInt(`0x${start}`) }) };
}

/** The position in the text form of a reading. */
export const positionOfText = (text: string, field: string): Position => positionOf(fromText(text), field);

/** Whether the reader may have missed deletions, or holds a position that the data set never had. `life` is undefined before its first push. */
export function isStale({ stamp, epoch, start }: Position, life: Life | undefined): boolean {
  if (epoch === undefined) return life !== undefined && stamp > 0n && stamp < life.horizon;
  if (life === undefined || epoch !== life.epoch) return true;
  return (start ?? stamp) < life.horizon || stamp > life.clock || (start ?? 0n) > life.clock;
}

/** The watermark of a position. */
export function watermarkOf({ stamp, epoch, start }: Position): Hlc {
  if (epoch === undefined) return unset;
  const name = start === undefined ? `@${epoch}` : `@${epoch}:${start.toString(16).padStart(16, '0')}`;
  return unpack(stamp, name);
}

export const watermarkText = (position: Position): string => toText(watermarkOf(position));
