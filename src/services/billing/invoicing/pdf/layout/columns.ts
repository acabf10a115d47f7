import { sheet } from './page.ts';

/** The column of descriptions, and the right edges of the columns of numbers. */
export interface Columns {
  readonly description: number;
  readonly numbers: readonly Column[];
}

export interface Column {
  readonly right: number;
  readonly width: number;
}

const gap = 14;
const least = 58;
const most = 112;

/** The columns of a table whose numbers are so wide. What they do not need is for the descriptions. */
export function columnsFor(widest: readonly number[]): Columns {
  let right = sheet.right;
  const numbers = [...widest].reverse().map((wide): Column => {
    const width = Math.min(Math.max(wide, least), most);
    const column = { right, width };
    right -= width + gap;
    return column;
  });
  return { description: right - sheet.left, numbers: numbers.reverse() };
}
