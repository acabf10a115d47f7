/** Spans of a text in ascending order, of which those that overlap are one. Spans are added by ascending beginning or end. */
export class Spans {
  readonly list: [start: number, end: number][] = [];

  add(start: number, end: number): void {
    let from = start;
    let to = end;
    for (let last = this.list.at(-1); last !== undefined && last[1] > from; last = this.list.at(-1)) {
      from = Math.min(from, last[0]);
      to = Math.max(to, last[1]);
      this.list.pop();
    }
    this.list.push([from, to]);
  }
}
