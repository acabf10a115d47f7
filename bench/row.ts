/** One line of the table: a figure and what it has to be, usually a ratio to a baseline measured in the same run. */
export interface Row {
  path: string;
  baseline: string;
  /** What was measured, with its unit, for orientation only: absolute figures depend on the machine. */
  measured: string;
  ratio: number | null;
  /** What the figure has to be, as printed: `≥ 0.85`; empty for a figure without one. */
  target: string;
  /** Null where there is nothing to meet, or where it could not be measured. */
  met: boolean | null;
}

/** Yields its rows as soon as they are known. */
export type Measurement = () => AsyncIterable<Row>;

/** What a benchmark file exports, in the order of the table. */
export type Measurements = Readonly<Record<string, Measurement>>;

interface Compared {
  path: string;
  baseline: string;
  measured: string;
}

/** A ratio that has to reach `least`. */
export const atLeast = (ratio: number, least: number, compared: Compared): Row => ({
  ...compared,
  ratio,
  target: `≥ ${round(least)} ×`,
  met: ratio >= least,
});

/** A ratio that may not exceed `most`. */
export const atMostTimes = (ratio: number, most: number, compared: Compared): Row => ({
  ...compared,
  ratio,
  target: `≤ ${round(most)} ×`,
  met: ratio <= most,
});

interface Figure {
  path: string;
  unit: string;
  baseline?: string;
  measured?: string;
}

/** A figure that may not exceed `most`. */
export const atMost = (
  figure: number,
  most: number,
  { path, unit, baseline = '–', measured }: Figure,
): Row => ({
  path,
  baseline,
  measured: [`${round(figure)} ${unit}`, ...(measured ? [measured] : [])].join(', '),
  ratio: null,
  target: `≤ ${round(most)} ${unit}`,
  met: figure <= most,
});

/** A figure that has to reach `least`. */
export const figureAtLeast = (
  figure: number,
  least: number,
  { path, unit, baseline = '–' }: Figure,
): Row => ({
  path,
  baseline,
  measured: `${round(figure)} ${unit}`,
  ratio: null,
  target: `≥ ${round(least)} ${unit}`,
  met: figure >= least,
});

/** A ratio that is only told. */
export const forOrientation = (ratio: number, compared: Compared): Row => ({
  ...compared,
  ratio,
  target: '',
  met: null,
});

/** A row that this machine cannot have, and why. */
export const notMeasured = (path: string, target: string, why: string): Row => ({
  path,
  baseline: '–',
  measured: `not measured: ${why}`,
  ratio: null,
  target,
  met: null,
});

export const round = (value: number): string =>
  value >= 1000 ? Math.round(value).toLocaleString('en') : Number(value.toPrecision(3)).toString();
