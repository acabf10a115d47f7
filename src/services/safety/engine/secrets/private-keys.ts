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

/** `-----BEGIN ` in base64, as the secrets of Kubernetes and the variables of pipelines hold keys. */
const encodedBeginning = 'LS0tLS1CRUdJTi';
/** So much says whether it is a private key. */
const encodedLabel = 72;
const shortestEncoded = 200;

/** Recognises a private key in base64 at the run in which it begins, and returns where it ends; `start` when there is none. */
export function recogniseEncodedKey(scan: Scan, start: number): number {
  const { text } = scan;
  if (!text.startsWith(encodedBeginning, start)) return start;
  scan.work += encodedLabel;
  if (!label.test(Buffer.from(text.slice(start, start + encodedLabel), 'base64').toString('latin1')))
    return start;
  const last = start + longestKey * 2;
  let end = start;
  for (let at = start; at < last;) {
    const next = runEnd(text, at, alphanumeric | base64Sign, last - at);
    if (next === at) break;
    end = next;
    // It may be divided into lines, which are indented in some files.
    const gap = /^(?:\\n|\s){1,64}/.exec(text.slice(next, next + 64))?.[0] ?? '';
    if (!/[\nn]/.test(gap) || next - at < shortestPiece) break;
    at = next + gap.length;
  }
  scan.work += end - start;
  while (text.charCodeAt(end) === 61) end++;
  if (end - start < shortestEncoded) return start;
  scan.add('secret.private_key', start, end, text.slice(start, end));
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
