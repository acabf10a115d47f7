import {
  alphanumeric,
  base64Sign,
  classOf,
  dot,
  hyphen,
  letter,
  runStart,
} from '../recognition/characters.ts';
import type { Scan } from '../recognition/scan.ts';
import { isPlaceholderPassword } from '../secrets/placeholders.ts';

const longestScheme = 24;
const longestAuthority = 512;
const longestUrl = 1_024;
/** Schemes whose credentials are those of a visitor; all others lead to databases, queues and the like. */
const webSchemes = new Set(['http', 'https', 'ftp', 'ftps', 'sftp', 'ssh', 'git', 'ws', 'wss', 'svn']);

/** Recognises the credentials in a URL, from the colon of its `://` on. */
export function recogniseUrl(scan: Scan, colon: number): void {
  const { text } = scan;
  const scheme = schemeStart(text, colon);
  const from = colon + 3;
  const last = Math.min(text.length, from + longestAuthority);
  let at = from;
  let sign = -1;
  let divider = -1;
  for (; at < last && !endsAuthority(text.charCodeAt(at)); at++) {
    const unit = text.charCodeAt(at);
    if (unit === 64) sign = at;
    else if (unit === 58 && divider < 0) divider = at;
  }
  // In JSON within JSON, a backslash escapes the quotation mark behind the URL.
  while (at > from && text.charCodeAt(at - 1) === 92) at--;
  scan.work += at - scheme;
  scan.pastUrl = at;
  if (scheme === colon || sign < 0 || divider < 0 || divider > sign) return;
  const password = text.slice(divider + 1, sign);
  if (password === '' || isPlaceholderPassword(password)) return;
  const isWeb = webSchemes.has(text.slice(scheme, colon).toLowerCase());
  if (isWeb && scan.wants('pii.url_credentials'))
    scan.add('pii.url_credentials', from, sign, text.slice(from, sign).normalize('NFC'));
  else if (text.charCodeAt(sign + 1) > 32) {
    const end = urlEnd(text, at);
    scan.pastUrl = end;
    scan.add('secret.connection_string', scheme, end, text.slice(scheme, end).normalize('NFC'));
  }
}

/** Letters, digits and, inside, `+`, `-` and `.`, as in `mongodb+srv`. */
function schemeStart(text: string, colon: number): number {
  let at = runStart(text, colon, alphanumeric | dot | hyphen | base64Sign, longestScheme);
  while (at < colon && (classOf(text.charCodeAt(at)) & letter) === 0) at++;
  const slash = text.slice(at, colon).lastIndexOf('/');
  return slash < 0 ? at : at + slash + 1;
}

/** White space, quotation marks, angle brackets, and what begins the path, the query or the fragment. */
const endsAuthority = (unit: number): boolean =>
  unit <= 32 ||
  unit === 34 ||
  unit === 39 ||
  unit === 96 ||
  unit === 60 ||
  unit === 62 ||
  unit === 47 ||
  unit === 63;

function urlEnd(text: string, from: number): number {
  const last = Math.min(text.length, from + longestUrl);
  let at = from;
  while (at < last && text.charCodeAt(at) > 32 && !/["'`<>)\]},;\\]/.test(text.charAt(at))) at++;
  while (at > from && (classOf(text.charCodeAt(at - 1)) & dot) !== 0) at--;
  return at;
}
