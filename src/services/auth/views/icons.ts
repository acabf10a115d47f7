import { type Markup, markup } from '../../../http/html.ts';

/** A picture of lines that accompanies a text; screen readers skip it. */
const drawn = (paths: Markup, className?: string): Markup =>
  markup`<svg${className !== undefined && markup` class="${className}"`} viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${paths}</svg>`;

const tick = markup`<path d="M5 12.5l4.5 4.5L19 7.5"/>`;
const envelope = markup`<rect x="3" y="5" width="18" height="14" rx="2"/><path d="M3.5 7l8.5 6 8.5-6"/>`;
const clock = markup`<circle cx="12" cy="12" r="9"/><path d="M12 7v5l3 2"/>`;
const dash = markup`<path d="M6 12h12"/>`;
const exclamation = markup`<path d="M12 6v7"/><path d="M12 17.5v.01"/>`;

/** The picture above the heading of a page that says how something ended. */
export const pictures = {
  done: drawn(tick, 'icon'),
  mail: drawn(envelope, 'icon plain'),
  over: drawn(clock, 'icon plain'),
  refused: drawn(dash, 'icon plain'),
  problem: drawn(exclamation, 'icon plain'),
} as const;

/** The picture before each item of a list of rights. */
export const listTick: Markup = drawn(tick);

/** The picture between two parties that exchange something. */
export const exchange: Markup = drawn(markup`<path d="M4 9h15l-3.5-3.5"/><path d="M20 15H5l3.5 3.5"/>`);
