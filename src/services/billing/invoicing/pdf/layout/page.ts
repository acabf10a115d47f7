import type { Style } from '../typesetter.ts';

/** A4 in points, and where its contents lie. Vertical positions count from the top. */
export const sheet = { width: 595.28, height: 841.89, left: 50, right: 545.28, top: 54, bottom: 780 };

export const colors = {
  ink: '#1b2333',
  quiet: '#667085',
  line: '#d5dae3',
  accent: '#3154c4',
  good: '#1d7a4b',
  warning: '#b3261e',
};

const style = (size: number, weight: Style['weight'] = 'regular', color = colors.ink): Style => ({
  ...{ size, weight, color },
});

export const styles = {
  title: style(26, 'strong'),
  name: style(11, 'strong'),
  headline: style(20, 'strong'),
  text: style(9),
  strong: style(9, 'strong'),
  quiet: style(9, 'regular', colors.quiet),
  detail: style(8, 'regular', colors.quiet),
  caption: style(7.5, 'strong', colors.quiet),
  footer: style(8, 'regular', colors.quiet),
};

/** The distance between the baselines of lines of a size. */
export const leading = (size: number): number => size * 1.42;

/** Something on a page. Horizontal positions count from the left edge, vertical ones from the top edge. */
export type Item =
  | {
      readonly kind: 'text';
      readonly text: string;
      readonly x: number;
      readonly baseline: number;
      readonly style: Style;
    }
  | {
      readonly kind: 'rule';
      readonly y: number;
      readonly from: number;
      readonly to: number;
      readonly color: string;
      readonly thickness: number;
    }
  | {
      readonly kind: 'pill';
      readonly x: number;
      readonly y: number;
      readonly width: number;
      readonly height: number;
      readonly color: string;
    };

export interface Page {
  readonly items: readonly Item[];
}

/** The width of a printable line in a style. */
export type Measure = (line: string, style: Style) => number;
