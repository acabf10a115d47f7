/** Tokens that say by a prefix whose they are. */
import { checkDigits } from '../../../../lib/base62.ts';
import {
  alphanumeric,
  base64Sign,
  classOf,
  digit,
  dot,
  hexLetter,
  runEnd,
  upper,
  urlSafe,
} from '../recognition/characters.ts';
import type { Scan } from '../recognition/scan.ts';
import { entropy } from './entropy.ts';
import { isPlaceholderToken } from './placeholders.ts';

interface Token {
  readonly type: string;
  /** The whole prefix, with its separator. */
  readonly prefix: string;
  /** The classes of the characters behind it, and how many there may be. */
  readonly body: number;
  readonly shortest: number;
  readonly longest: number;
  readonly isValid: (body: string) => boolean;
}

const token = (
  type: string,
  prefixes: string,
  body: number,
  [shortest, longest]: readonly [number, number],
  isValid: (body: string) => boolean = isRandom,
): Token[] =>
  prefixes.split(' ').map((prefix) => ({ type: `secret.${type}`, prefix, body, shortest, longest, isValid }));

/** A row of one letter, or words that say so, are the place of a token and none. */
function isRandom(body: string): boolean {
  return isMixed(body) && !isPlaceholderToken(body);
}

const isMixed = (body: string): boolean => entropy(body.slice(0, 64)) >= 2.5;

/** The last six of 36 characters are the CRC-32 of the others in base62. */
const isChecked = (body: string): boolean => body.endsWith(checkDigits(body.slice(0, 30)));

const slackForm = /^(?:[0-9]{8,14}-){1,3}[A-Za-z0-9]{16,64}$|^(?=.*[0-9])[A-Za-z0-9-]{24,250}$/;
const hexForm = /^[0-9a-f]{32}$/;
const grafanaForm = /^[A-Za-z0-9]{32}_[0-9a-f]{8}$/i;
const tailscaleForm = /^(?:[a-z]{2,10}-)?(?=[A-Za-z0-9-]*[0-9])[A-Za-z0-9]{6,40}(?:-[A-Za-z0-9]{10,64})?$/;
const openAiForm = /T3BlbkFJ/;

const tokens: readonly Token[] = [
  ...token('github_token', 'ghp_ gho_ ghu_ ghs_ ghr_', alphanumeric, [36, 36], isChecked),
  ...token('github_token', 'github_pat_', urlSafe, [82, 82], (body) =>
    /^[A-Za-z0-9]{22}_[A-Za-z0-9]{59}$/.test(body),
  ),
  ...token(
    'gitlab_token',
    'glpat- gldt- glrt- glcbt- glptt- glft- glsoat- glimt- glagent- gloas- glffct-',
    urlSafe | 64,
    [20, 160],
  ),
  ...token(
    'slack_token',
    'xoxb- xoxp- xoxa- xoxr- xoxs- xoxe- xoxo- xoxd-',
    urlSafe,
    [24, 250],
    (body) => slackForm.test(body) && isRandom(body),
  ),
  ...token('slack_token', 'xapp-', urlSafe, [24, 250], (body) =>
    /^[0-9]-[A-Z0-9]{8,14}-[0-9]{8,16}-[a-z0-9]{32,80}$/i.test(body),
  ),
  ...token('stripe_key', 'sk_live_ sk_test_ rk_live_ rk_test_', alphanumeric, [16, 247]),
  ...token('anthropic_key', 'sk-ant-', urlSafe, [40, 180]),
  ...token('openai_key', 'sk-proj- sk-svcacct- sk-admin- sk-None-', urlSafe, [40, 250]),
  ...token('openai_key', 'sk-', alphanumeric, [48, 48], (body) => openAiForm.test(body)),
  ...token('npm_token', 'npm_', alphanumeric, [36, 36], isChecked),
  ...token('pypi_token', 'pypi-AgEIcHlwaS5vcmc pypi-AgENdGVzdC5weXBpLm9yZw', urlSafe, [50, 1_000]),
  ...token('sendgrid_key', 'SG.', urlSafe | 64, [66, 66], (body) =>
    /^[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}$/.test(body),
  ),
  ...token('huggingface_token', 'hf_', alphanumeric, [30, 40]),
  ...token('grafana_token', 'glsa_', urlSafe, [41, 41], (body) => grafanaForm.test(body) && isRandom(body)),
  ...token('docker_token', 'dckr_pat_ dckr_oat_', urlSafe, [27, 40]),
  ...token(
    'shopify_token',
    'shpat_ shpca_ shppa_ shpss_',
    alphanumeric,
    [32, 32],
    (body) => hexForm.test(body) && isRandom(body),
  ),
  ...token(
    'tailscale_key',
    'tskey-',
    urlSafe,
    [16, 110],
    (body) => tailscaleForm.test(body) && isRandom(body),
  ),
];

/** The tokens by the letters before the first separator of their prefix. */
const byFirstRun = new Map<string, Token[]>();
for (const each of tokens) {
  const run = /^[A-Za-z]+/.exec(each.prefix)![0];
  byFirstRun.set(run, [...(byFirstRun.get(run) ?? []), each]);
}
const longestFirstRun = Math.max(...[...byFirstRun.keys()].map((run) => run.length));

/** Recognises a token whose prefix begins with this run of letters, in front of `_`, `-` or `.`. */
export function recogniseToken(scan: Scan, start: number, end: number): void {
  const { text } = scan;
  // In JSON within JSON, the letter of an escape stands before the token: `\\nghp_…`.
  if (text.charCodeAt(start - 1) === 92 && /[nrt]/.test(text.charAt(start)))
    recogniseFrom(scan, start + 1, end);
  recogniseFrom(scan, start, end);
}

function recogniseFrom(scan: Scan, start: number, end: number): void {
  if (end - start > longestFirstRun) return;
  const { text } = scan;
  for (const { type, prefix, body, shortest, longest, isValid } of byFirstRun.get(text.slice(start, end)) ??
    []) {
    if (!text.startsWith(prefix, start)) continue;
    const from = start + prefix.length;
    let until = runEnd(text, from, body, longest + 1);
    scan.work += until - start;
    // A full stop or a hyphen behind the token is punctuation.
    while (until > from && /[.-]/.test(text.charAt(until - 1))) until--;
    const length = until - from;
    if (length < shortest || length > longest || !isValid(text.slice(from, until))) continue;
    scan.add(type, start, until, text.slice(start, until));
    return;
  }
}

const awsPrefixes = new Set(['AKIA', 'ASIA', 'ABIA', 'ACCA']);
const awsForm = /^[A-Z2-7]{16}$/;
const secretKeyLength = 40;
/** How far behind an access key its secret key may stand. */
const mostBetween = 160;

/** Recognises tokens that are one run and have their prefix in it. */
export function recogniseRunToken(scan: Scan, start: number, end: number): void {
  const { text } = scan;
  const length = end - start;
  if (length === 20 && awsPrefixes.has(text.slice(start, start + 4))) {
    const body = text.slice(start + 4, end);
    if (!awsForm.test(body) || !isMixed(body)) return;
    scan.add('secret.aws_access_key', start, end, text.slice(start, end));
    recogniseSecretBehind(scan, end);
  } else if (length === 34 && text.startsWith('SK', start)) {
    const until = runEnd(text, start + 2, digit | hexLetter, 32);
    if (until === end && isRandom(text.slice(start + 2, end)))
      scan.add('secret.twilio_key', start, end, text.slice(start, end));
  } else if (length === 36 && text.startsWith('dapi', start)) {
    if (hexForm.test(text.slice(start + 4, end)) && isRandom(text.slice(start + 4, end)))
      scan.add('secret.databricks_token', start, end, text.slice(start, end));
  } else if (text.startsWith('AIza', start)) {
    const until = runEnd(text, start + 4, urlSafe, 36);
    scan.work += until - start;
    if (until - start === 39 && isRandom(text.slice(start + 4, until)))
      scan.add('secret.google_api_key', start, until, text.slice(start, until));
  }
}

/** An access key is often followed by its secret key, as in a file of credentials. */
function recogniseSecretBehind(scan: Scan, from: number): void {
  const { text } = scan;
  const last = Math.min(text.length, from + mostBetween);
  scan.work += mostBetween;
  for (let at = from; at < last; at++) {
    const until = runEnd(text, at, alphanumeric | base64Sign, mostBetween);
    if (until - at === secretKeyLength) addSecretKey(scan, at, until);
    at = until;
  }
}

/** Forty characters of base64 that are no hash in hexadecimal. */
export function addSecretKey(scan: Scan, start: number, end: number): void {
  const key = scan.text.slice(start, end);
  if (/[G-Zg-z]/.test(key) && /[0-9]/.test(key) && /[A-Z]/.test(key) && entropy(key) >= 4)
    scan.add('secret.aws_secret_key', start, end, key);
}

const plinthBody = 55;
const longestPlinthPrefix = 66;
const plinthForm = /^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,30}[A-Za-z0-9])?_[a-z][a-z0-9-]{0,31}_$/;

/** Recognises a key of this platform by its body, a run behind `_`: `<prefix>_<environment>_<body>`. */
export function recognisePlinthKey(scan: Scan, start: number, end: number): void {
  const { text } = scan;
  if (end - start !== plinthBody || text.charAt(start - 1) !== '_') return;
  let from = start;
  while (start - from < longestPlinthPrefix && (classOf(text.charCodeAt(from - 1)) & urlSafe) !== 0) from--;
  scan.work += start - from + 100;
  const key = text.slice(from, end);
  if (plinthForm.test(text.slice(from, start)) && key.endsWith(checkDigits(key.slice(0, -6))))
    scan.add('secret.plinth_key', from, end, key);
}

const webhookForm =
  /^https:\/\/hooks\.slack\.com\/(?:services|workflows|triggers)\/[A-Za-z0-9]{6,16}\/[A-Za-z0-9]{6,16}\/[A-Za-z0-9/]{12,80}/;

/** Recognises the URL of a Slack webhook by the run before its `://`. */
export function recogniseSlackWebhook(scan: Scan, scheme: number): void {
  if (!scan.text.startsWith('https://hooks.slack.com/', scheme)) return;
  const url = webhookForm.exec(scan.text.slice(scheme, scheme + 192))?.[0];
  scan.work += 192;
  if (url !== undefined) scan.add('secret.slack_webhook', scheme, scheme + url.length, url);
}

/** Whether a run may hold a token without a separator: it begins with two letters of a prefix. */
export const mayBeRunToken = (text: string, start: number): boolean =>
  ((classOf(text.charCodeAt(start)) & upper) !== 0 && (classOf(text.charCodeAt(start + 1)) & upper) !== 0) ||
  text.startsWith('dapi', start);

const azureSigns = urlSafe | dot;
const azureSecret = /^[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}$/;

/** Recognises the client secret of an Azure application by the `~` behind its first five characters. */
export function recogniseAzureSecret(scan: Scan, tilde: number): void {
  const { text } = scan;
  const start = tilde - 5;
  if (text.charCodeAt(tilde - 1) !== 81 || start < 0 || isAzureUnit(text.charCodeAt(start - 1))) return;
  let end = tilde + 1;
  while (end - tilde < 40 && isAzureUnit(text.charCodeAt(end))) end++;
  scan.work += end - start;
  // A full stop behind the secret is punctuation.
  while (text.charCodeAt(end - 1) === 46) end--;
  const value = text.slice(start, end);
  if (azureSecret.test(value) && isRandom(value)) scan.add('secret.azure_client_secret', start, end, value);
}

const isAzureUnit = (unit: number): boolean => (classOf(unit) & azureSigns) !== 0 || unit === 126;
