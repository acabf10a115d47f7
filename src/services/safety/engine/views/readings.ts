import type { View } from './view.ts';

/** How a text is hidden. */
export type Encoding =
  | 'leet'
  | 'spaced'
  | 'joined'
  | 'markup'
  | 'fillers'
  | 'reversed'
  | 'rot13'
  | 'tags'
  | 'base64'
  | 'hex'
  | 'percent'
  | 'escapes';

/** A way to read the text: a view, and where its parts lie in the text. */
export interface Reading {
  readonly view: View;
  /** Undefined for the text as people see it. */
  readonly encoding: Encoding | undefined;
  /** Whether the words of the view have visible bounds. */
  readonly isBounded: boolean;
  readonly spanOf: (start: number, end: number) => readonly [start: number, end: number];
  /** For views that hold several encodings: the one of a part. */
  readonly encodingAt?: (start: number) => Encoding;
}

/** The part of the text of which a part of a view was made. */
export function spanIn(view: View, start: number, end: number): readonly [number, number] {
  const { offsets } = view;
  if (offsets === undefined) return [start, end];
  // A character may have become several units, and is taken as a whole.
  let after = end;
  while (after < view.codes.length && offsets[after] === offsets[end - 1]) after++;
  return [offsets[start]!, offsets[after]!];
}

export const reading = (view: View, encoding: Encoding | undefined, isBounded = true): Reading => ({
  view,
  encoding,
  isBounded,
  spanOf: (start, end) => spanIn(view, start, end),
});
