import { sha256 } from './tokens.ts';

/** Normalizes a code for comparison: case, spaces and hyphens do not matter. */
export const plainUserCode = (typed: string): string => typed.toUpperCase().replace(/[^A-Z0-9]/g, '');

/** The hash by which a device is found. */
export const userCodeHash = (typed: string): Buffer => sha256(`user code ${plainUserCode(typed)}`);

/** Formats a code as devices show it; returns a malformed code as typed. */
export function shownUserCode(typed: string): string {
  const plain = plainUserCode(typed);
  return plain.length === 8 ? `${plain.slice(0, 4)}-${plain.slice(4)}` : typed;
}
