import { printable } from '../text/printable.ts';
import { clamped, wrapped } from '../text/wrapping.ts';
import type { Style } from '../typesetter.ts';
import { leading, type Item, type Measure } from './page.ts';

/** Sets texts of users in lines. */
export class Setting {
  readonly measure: Measure;

  constructor(measure: Measure) {
    this.measure = measure;
  }

  /** All lines of a text in a column. */
  wrapped(text: string, width: number, style: Style): string[] {
    return wrapped(printable(text), width, (line) => this.measure(line, style));
  }

  /** The first lines of a text, where there is no room for more. */
  clamped(text: string, width: number, most: number, style: Style): string[] {
    return clamped(printable(text), width, most, (line) => this.measure(line, style));
  }

  /** A short text that ends at `right`. If it is too wide for its column, it becomes smaller. */
  toTheLeft(
    text: string,
    { right, width }: { right: number; width: number },
    baseline: number,
    style: Style,
  ): Item {
    const natural = this.measure(text, style);
    const fitting = natural <= width ? style : { ...style, size: (style.size * width) / natural };
    return { kind: 'text', text, x: right - Math.min(natural, width), baseline, style: fitting };
  }
}

/** Lines below one another, the first with its baseline at 0. */
export const stacked = (lines: readonly string[], x: number, style: Style, from = 0): Item[] =>
  lines.map((text, at) => ({ kind: 'text', text, x, baseline: from + at * leading(style.size), style }));

/** The items of something, moved down. */
export const movedDown = (items: readonly Item[], by: number): Item[] =>
  items.map((item) =>
    item.kind === 'text' ? { ...item, baseline: item.baseline + by } : { ...item, y: item.y + by },
  );
