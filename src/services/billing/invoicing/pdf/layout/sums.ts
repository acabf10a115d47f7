import type { SumText } from '../content/invoice-text.ts';
import { colors, type Item, leading, sheet, styles } from './page.ts';
import { type Setting, stacked } from './setting.ts';
import type { SetBlock } from './table.ts';

const left = 300;
const gap = 12;
const padding = 4;
const mostLines = 2;

/** The distance between the table and the sums. */
export const sumsGap: SetBlock = { isRow: false, height: 8, items: [] };

/** A sum: what it is on the left, how much on the right. */
export function sumBlock({ label, amount, isStrong }: SumText, setting: Setting): SetBlock {
  const style = isStrong ? styles.strong : styles.text;
  const width = Math.min(setting.measure(amount, style), 140);
  const lines = setting.clamped(label, sheet.right - left - width - gap, mostLines, style);
  const baseline = padding + 9;
  const rule: Item = { kind: 'rule', y: 1, from: left, to: sheet.right, color: colors.line, thickness: 0.5 };
  return {
    isRow: false,
    height: 2 * padding + lines.length * leading(style.size),
    items: [
      ...(isStrong ? [rule] : []),
      ...stacked(lines, left, isStrong ? style : styles.quiet, baseline),
      setting.toTheLeft(amount, { right: sheet.right, width }, baseline, style),
    ],
  };
}

/** A remark below the sums. */
export function noteBlock(note: string, setting: Setting): SetBlock {
  const lines = setting.wrapped(note, sheet.right - sheet.left, styles.quiet);
  return {
    isRow: false,
    height: 8 + lines.length * leading(styles.quiet.size),
    items: stacked(lines, sheet.left, styles.quiet, 16),
  };
}
