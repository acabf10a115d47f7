import type { ChargeText } from '../content/invoice-text.ts';
import type { Pause } from '../pace.ts';
import type { Columns } from './columns.ts';
import { columnsFor } from './columns.ts';
import { colors, type Item, leading, type Measure, sheet, styles } from './page.ts';
import type { Block } from './pagination.ts';
import { type Setting, stacked } from './setting.ts';

/** A block with what is in it, from its top edge at 0. */
export interface SetBlock extends Block {
  readonly items: readonly Item[];
  /** Whether it belongs to the table, whose head is repeated above it. */
  readonly isRow: boolean;
}

const padding = 6;
/** From the top edge of a row to the baseline of its first line. */
const firstBaseline = padding + 7.5;
/** The lines of a row that are kept together: no description in a common script has more. */
const mostTogether = 40;

/** The height of the head of the table, which every page repeats. */
export const tableHeadHeight = 24;

/** Finds the widths of the columns. */
export async function columnsOf(
  charges: readonly ChargeText[],
  measure: Measure,
  pause: Pause,
): Promise<Columns> {
  const widest = [0, 0, 0];
  for (const charge of charges) {
    for (const [at, number] of numbersOf(charge).entries())
      widest[at] = Math.max(widest[at]!, measure(number, styles.text));
    await pause();
  }
  return columnsFor(widest);
}

const numbersOf = ({ quantity, price, amount }: ChargeText): string[] => [quantity, price, amount];

/** The names of the columns. */
export function tableHead({ numbers }: Columns, setting: Setting): Item[] {
  const baseline = 10;
  const names = ['QUANTITY', 'UNIT PRICE', 'AMOUNT'];
  return [
    { kind: 'text', text: 'DESCRIPTION', x: sheet.left, baseline, style: styles.caption },
    ...numbers.map((column, at) => setting.toTheLeft(names[at]!, column, baseline, styles.caption)),
    {
      kind: 'rule',
      y: tableHeadHeight - 5,
      from: sheet.left,
      to: sheet.right,
      color: colors.ink,
      thickness: 0.8,
    },
  ];
}

/** A charge as a row, or as several if its description is of an extreme length. */
export function rowsOf(charge: ChargeText, columns: Columns, setting: Setting): SetBlock[] {
  const lines: Line[] = [
    ...setting
      .wrapped(charge.description, columns.description, styles.text)
      .map((text) => ({ text, style: styles.text })),
    ...charge.details.map((text) => ({ text, style: styles.detail })),
  ];
  const numbers = numbersOf(charge).map((number, at) =>
    setting.toTheLeft(number, columns.numbers[at]!, firstBaseline, styles.text),
  );
  const parts = Array.from({ length: Math.max(1, Math.ceil(lines.length / mostTogether)) }, (_, part) =>
    lines.slice(part * mostTogether, (part + 1) * mostTogether),
  );
  return parts.map((part, at) => {
    const isLast = at === parts.length - 1;
    const height = 2 * padding + part.length * leading(styles.text.size) - 2;
    const rule: Item = {
      kind: 'rule',
      y: height,
      from: sheet.left,
      to: sheet.right,
      color: colors.line,
      thickness: 0.5,
    };
    return {
      isRow: true,
      height,
      items: [...linesOf(part), ...(at === 0 ? numbers : []), ...(isLast ? [rule] : [])],
    };
  });
}

interface Line {
  readonly text: string;
  readonly style: typeof styles.text;
}

const linesOf = (lines: readonly Line[]): Item[] =>
  lines.flatMap(({ text, style }, at) =>
    stacked([text], sheet.left, style, firstBaseline + at * leading(styles.text.size)),
  );

/** What the table of an empty invoice shows. */
export const emptyRow: SetBlock = {
  isRow: true,
  height: 26,
  items: [
    { kind: 'text', text: 'Nothing to bill', x: sheet.left, baseline: firstBaseline, style: styles.quiet },
    { kind: 'rule', y: 26, from: sheet.left, to: sheet.right, color: colors.line, thickness: 0.5 },
  ],
};
