import { createHmac, timingSafeEqual } from 'node:crypto';

/** How old, or how far ahead, a signed notification may be. */
const mostSecondsApart = 300;

/** How a provider writes its signature header, and what it signs. */
interface Scheme {
  readonly separator: ',' | ';';
  readonly timestamp: string;
  readonly signature: string;
  /** What stands between the time and the body. */
  readonly joint: '.' | ':';
}

const cardProvider: Scheme = { separator: ',', timestamp: 't', signature: 'v1', joint: '.' };
const billingProvider: Scheme = { separator: ';', timestamp: 'ts', signature: 'h1', joint: ':' };

/** The bytes as they arrived, since parsing and writing JSON again could change them. */
export interface SignedBody {
  readonly header: string | undefined;
  readonly body: Uint8Array;
}

/** Whether `t=<seconds>,v1=<hex>` is the HMAC-SHA-256 of `<t>.<body>` under one of the secrets, and not too old. */
export const isSignedByCardProvider = (
  signed: SignedBody,
  secrets: readonly string[],
  now: number,
): boolean => isSigned(cardProvider, signed, secrets, now);

/** Whether `ts=<seconds>;h1=<hex>` is the HMAC-SHA-256 of `<ts>:<body>` under one of the secrets, and not too old. */
export const isSignedByBillingProvider = (
  signed: SignedBody,
  secrets: readonly string[],
  now: number,
): boolean => isSigned(billingProvider, signed, secrets, now);

/** Each of several signatures may be the one, as there are two while a provider changes its secret. */
function isSigned(
  scheme: Scheme,
  { header, body }: SignedBody,
  secrets: readonly string[],
  now: number,
): boolean {
  const { time, signatures } = parse(scheme, header ?? '');
  if (time === undefined || Math.abs(Math.floor(now / 1000) - Number(time)) > mostSecondsApart) return false;
  const expected = secrets.map((secret) =>
    createHmac('sha256', secret).update(`${time}${scheme.joint}`).update(body).digest(),
  );
  return signatures.some((signature) => expected.some((one) => timingSafeEqual(one, signature)));
}

/** A header holds at most this many signatures: comparing more would be work that a stranger can order. */
const mostSignatures = 10;

function parse({ separator, timestamp, signature }: Scheme, header: string) {
  const members = header.split(separator).map((member) => {
    const at = member.indexOf('=');
    return { name: member.slice(0, at).trim(), value: member.slice(at + 1).trim() };
  });
  const times = members.filter(({ name }) => name === timestamp);
  const time = times.length === 1 && /^[0-9]{1,12}$/.test(times[0]!.value) ? times[0]!.value : undefined;
  const signatures = members
    .filter(({ name, value }) => name === signature && /^[0-9a-f]{64}$/.test(value))
    .slice(0, mostSignatures)
    .map(({ value }) => Buffer.from(value, 'hex'));
  return { time, signatures };
}
