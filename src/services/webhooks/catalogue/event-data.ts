import { Invalid } from '../../../lib/errors.ts';
import { DataTooLarge } from '../errors.ts';
import { isDeeper } from '../../../lib/json-levels.ts';

const mostBytes = 256 * 1024;
const mostLevels = 60;

/**
 * The text of an event's data, which is what is signed and sent.
 * @param text the text as it was sent, where the frame kept it
 * @throws DataTooLarge, or Invalid when they are too deep
 */
export function eventData(
  data: Readonly<Record<string, unknown>>,
  text: string = JSON.stringify(data),
): string {
  if (Buffer.byteLength(text) > mostBytes) throw DataTooLarge(mostBytes);
  if (isDeeper(data, mostLevels)) throw Invalid(`data: nested deeper than ${mostLevels} levels`);
  return text;
}
