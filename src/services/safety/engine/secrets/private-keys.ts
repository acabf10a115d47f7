import { alphanumeric, base64Sign, runEnd } from '../recognition/characters.ts';
import type { Scan } from '../recognition/scan.ts';

const beginning = '-----BEGIN ';
const ending = '-----END ';
const label = /^-----BEGIN ((?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?)-----/;
const longestLabel = 80;
const longestKey = 65_536;
const shortestPiece = 24;
/** How far before the key the file of a service account says what it is. */
const mostBefore = 1_024;

/** Recognises a private key at its first dashes, and returns where it ends; `start` when there is none. */
export function recognisePrivateKey(scan: Scan, start: number): number {
  const { text } = scan;
  if (!text.startsWith(beginning, start)) return start;
  const match = label.exec(text.slice(start, start + longestLabel));
  scan.work += longestLabel;
  if (match === null) return start;
  const from = start + match[0].length;
  const body = bodyOf(text, from);
  scan.work += body.end - from;
  // Without a long piece of base64 it is the name of a key, as prose uses it; cut off at its end it is still a key.
  if (body.lastLong === from) return start;
  const closing = `${ending}${match[1]}-----`;
  const end = text.startsWith(closing, body.end) ? body.end + closing.length : body.lastLong;
  const context = text.slice(Math.max(0, start - mostBefore), start);
  scan.work += mostBefore;
  const isAccount = scan.wants('secret.gcp_service_account') && /"service_account"/.test(context);
  scan.add(
    isAccount ? 'secret.gcp_service_account' : 'secret.private_key',
    start,
    end,
    text.slice(start, end),
  );
  return end;
}

/**
 * The body is base64 with headers, white space and, inside a string of code, `\\n`; dashes end it. `lastLong` is where its last
 * long piece of base64 ends.
 */
function bodyOf(text: string, from: number): { end: number; lastLong: number } {
  const last = Math.min(text.length, from + longestKey);
  let lastLong = from;
  let at = from;
  while (at < last && !text.startsWith('-----', at)) {
    const piece = runEnd(text, at, alphanumeric | base64Sign, last - at);
    if (piece - at >= shortestPiece) lastLong = piece;
    if (piece > at) at = piece;
    else if (/[\s\\=:,.()@<>"'-]/.test(text.charAt(at))) at++;
    else break;
  }
  return { end: at, lastLong };
}
