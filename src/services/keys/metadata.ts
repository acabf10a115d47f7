import { Invalid } from '../../lib/errors.ts';

const mostBytes = 8 * 1024;
const mostLevels = 5;

/** Checks the depth and size of metadata; the contract limits its members. @throws Invalid when either limit is exceeded */
export function checkMetadata(metadata: Record<string, unknown>): void {
  if (levels(metadata) > mostLevels) throw Invalid(`metadata: at most ${mostLevels} levels`);
  if (Buffer.byteLength(JSON.stringify(metadata)) > mostBytes)
    throw Invalid(`metadata: at most ${mostBytes} bytes`);
}

/** Returns the nesting depth of a value, and stops counting once the limit is exceeded. */
function levels(value: unknown, above = 0): number {
  if (typeof value !== 'object' || value === null || above > mostLevels) return above;
  return Object.values(value).reduce<number>(
    (deepest, member) => Math.max(deepest, levels(member, above + 1)),
    above + 1,
  );
}
