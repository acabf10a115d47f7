import type { Scan } from '../recognition/scan.ts';

/** Latitude, then longitude, with at least three decimals; between them a separator, or the name of the second. Bounded. */
const form =
  /^([0-9]{1,3}\.[0-9]{3,15}) ?°? ?([NS])?(?: ?[,;/|] ?| {1,2}|"?[,&]? {0,2}[\r\n]{0,2} {0,8}"?(?:lng|lon|long|longitude)"? ?[:=] ?"?)([+-]?[0-9]{1,3}\.[0-9]{3,15})(?: ?°)?(?: ?([EW])(?![A-Za-z]))?/i;
const longest = 96;

/** Recognises a pair of coordinates, from the first digit of the latitude on. */
export function recogniseCoordinates(scan: Scan, digits: number): void {
  const { text } = scan;
  if (!scan.begins(digits)) return;
  const match = form.exec(text.slice(digits, digits + longest));
  scan.work += longest;
  if (match === null) return;
  const [whole, latitude = '', south, longitude = '', west] = match;
  const end = digits + whole.length;
  const sign = /[+-]/.test(text.charAt(digits - 1)) ? text.charAt(digits - 1) : '';
  if (Number(latitude) > 90 || Math.abs(Number(longitude)) > 180 || !scan.ends(end)) return;
  if ((south === undefined) !== (west === undefined)) return;
  const numbers = `${sign}${latitude}${south ?? ''},${longitude}${west ?? ''}`;
  scan.add('pii.geo_coordinates', digits - sign.length, end, numbers.toUpperCase());
}
