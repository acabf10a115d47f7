/** One line of the table: a figure and its target, usually a ratio to a baseline measured in the same run. */
export interface Row {
  path: string;
  baseline: string;
  /** The measured values with their units, for orientation only: absolute figures depend on the machine. */
  measured: string;
  ratio: number | null;
  /** The target of the figure, as printed: `≥ 0.85`; empty when there is none. */
  target: string;
  /** Null when there is no target, or when it could not be measured. */
  met: boolean | null;
}

/** Yields its rows as soon as they are known. */
export type Measurement = () => AsyncIterable<Row>;

/** The exports of a benchmark file, in the order of the table. */
export type Measurements = Readonly<Record<string, Measurement>>;

interface Compared {
  path: string;
  baseline: string;
  measured: string;
}

/** A ratio that has to be at least `least`. */
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

/** A figure that has to be at least `least`. */
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

/** A ratio without a target. */
export const forOrientation = (ratio: number, compared: Compared): Row => ({
  ...compared,
  ratio,
  target: '',
  met: null,
});

/** A row that this machine cannot measure, with the reason. */
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
