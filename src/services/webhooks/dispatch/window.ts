/** The attempts that a lane begins with; it grows from there with each success. */
export const firstWindow = 1;

/** One success allows one more attempt at once, up to the endpoint's own limit. */
export const grown = (window: number, maxConcurrency: number): number =>
  Math.min(window + 1, Math.max(maxConcurrency, firstWindow));

/** A receiver that has too much to do gets half of it. */
export const halved = (window: number): number => Math.max(firstWindow, Math.floor(window / 2));
