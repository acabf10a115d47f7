import { runEnd, urlSafe } from '../recognition/characters.ts';
import type { Scan } from '../recognition/scan.ts';

const shortestHeader = 16;
const longestHeader = 4_096;
const longestPart = 65_536;

/** Recognises a signed or encrypted JSON Web Token at its `eyJ`, and returns where it ends; `start` when it is none. */
export function recogniseWebToken(scan: Scan, start: number): number {
  const { text } = scan;
  const header = runEnd(text, start, urlSafe, longestPart);
  scan.work += header - start;
  if (
    text.charAt(header) !== '.' ||
    header - start < shortestHeader ||
    header - start > longestHeader ||
    !namesAlgorithm(text.slice(start, header))
  )
    return start;
  const payload = runEnd(text, header + 1, urlSafe, longestPart);
  if (payload === header + 1 && text.charAt(payload) !== '.') return start;
  let end = payload;
  // Three parts are signed; five are encrypted, of which some may be empty.
  for (let part = 2; part < 5 && text.charAt(end) === '.'; part++) {
    const next = runEnd(text, end + 1, urlSafe, longestPart);
    if (next === end + 1 && text.charAt(next) !== '.') break;
    end = next;
  }
  scan.work += end - header;
  if (end - header < 8) return start;
  scan.add('secret.jwt', start, end, text.slice(start, end));
  return end;
}

function namesAlgorithm(encoded: string): boolean {
  try {
    const header: unknown = JSON.parse(Buffer.from(encoded, 'base64url').toString('utf8'));
    return typeof header === 'object' && header !== null && 'alg' in header && typeof header.alg === 'string';
  } catch {
    return false;
  }
}
