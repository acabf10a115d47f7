import { Invalid } from '../../lib/errors.ts';

const mostBytes = 8 * 1024;
const mostLevels = 5;

/** @throws Invalid when the metadata is too deep or too large to be kept; the contract bounds its members. */
export function checkMetadata(metadata: Record<string, unknown>): void {
  if (levels(metadata) > mostLevels) throw Invalid(`metadata: at most ${mostLevels} levels`);
  if (Buffer.byteLength(JSON.stringify(metadata)) > mostBytes)
    throw Invalid(`metadata: at most ${mostBytes} bytes`);
}

/** How deep a value is nested, counted no further than it may be. */
function levels(value: unknown, above = 0): number {
  if (typeof value !== 'object' || value === null || above > mostLevels) return above;
  return Object.values(value).reduce<number>(
    (deepest, member) => Math.max(deepest, levels(member, above + 1)),
    above + 1,
  );
}
