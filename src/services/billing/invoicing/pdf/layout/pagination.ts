/** Something that is not divided between pages. */
export interface Block {
  readonly height: number;
  /** Neighbours with the same group stay together where one page can hold them. */
  readonly group?: string | undefined;
}

/** The heights that pages have for blocks. */
export interface Room {
  readonly first: number;
  readonly later: number;
}

/** Which blocks go on which page, as half-open ranges. There is always a first page. A block that is higher than a page gets its own. */
export function paginated(blocks: readonly Block[], room: Room): (readonly [from: number, to: number])[] {
  const pages: [number, number][] = [];
  let [from, left] = [0, room.first];
  for (const [start, end, height] of groups(blocks, room.later)) {
    if (height > left && !(start === from && pages.length > 0)) {
      pages.push([from, start]);
      [from, left] = [start, room.later];
    }
    for (let at = start; at < end; at++) left -= blocks[at]!.height;
  }
  return [...pages, [from, blocks.length]];
}

/** Blocks that stay together, as ranges with their heights. */
function* groups(
  blocks: readonly Block[],
  most: number,
): Generator<[from: number, to: number, height: number]> {
  let from = 0;
  while (from < blocks.length) {
    const { group, height } = blocks[from]!;
    let [to, together] = [from + 1, height];
    while (group !== undefined && blocks[to]?.group === group) together += blocks[to++]!.height;
    if (together <= most) yield [from, to, together];
    else for (let at = from; at < to; at++) yield [at, at + 1, blocks[at]!.height];
    from = to;
  }
}
