import { HOTP, Secret, TOTP } from 'otpauth';
import { describe, expect, it } from 'vitest';
import { newTotpSecret, provisioningUri, stepOfCode, totpSecretText } from './totp.ts';

const secret = Buffer.from('12345678901234567890');
const codeAt = (seconds: number) =>
  new TOTP({ secret: Secret.fromLatin1('12345678901234567890') }).generate({ timestamp: seconds * 1000 });

describe('stepOfCode', () => {
  it.each<[seconds: number, code: string]>([
    [59, '287082'],
    [1111111109, '081804'],
    [1111111111, '050471'],
    [1234567890, '005924'],
    [2000000000, '279037'],
    [20000000000, '353130'],
  ])('knows the vector of RFC 6238 at %d s', (seconds, code) => {
    expect(stepOfCode(secret, code, seconds * 1000)).toBe(Math.floor(seconds / 30));
  });

  it.each([
    '755224',
    '287082',
    '359152',
    '969429',
    '338314',
    '254676',
    '287922',
    '162583',
    '399871',
    '520489',
  ])('knows the vector %s of RFC 4226', (code) => {
    const vectors = Array.from({ length: 10 }, (_, counter) =>
      HOTP.generate({ secret: Secret.fromLatin1('12345678901234567890'), counter }),
    );
    const counter = vectors.indexOf(code);
    expect(stepOfCode(secret, code, counter * 30_000)).toBe(counter);
  });

  it('takes the code of the step before and after, and no other', () => {
    const now = 1_700_000_010_000;
    const step = Math.floor(now / 30_000);
    for (const away of [-1, 0, 1])
      expect(stepOfCode(secret, codeAt((step + away) * 30), now)).toBe(step + away);
    for (const away of [-3, -2, 2, 3])
      expect(stepOfCode(secret, codeAt((step + away) * 30), now)).toBeUndefined();
  });

  it.each(['', '28708', '2870820', '287 082', 'abcdef', 'é87082', '２８７０８２', '28708\n', '28708\0'])(
    'refuses %j without a comparison',
    (code) => {
      expect(stepOfCode(secret, code, 59_000)).toBeUndefined();
    },
  );

  it('refuses the code of another secret', () => {
    expect(stepOfCode(Buffer.from('12345678901234567891'), '287082', 59_000)).toBeUndefined();
  });
});

it('an authenticator app is told the secret, the product and the account', () => {
  expect(provisioningUri(secret, 'Plinth', 'ada@example.com')).toBe(
    'otpauth://totp/Plinth:ada%40example.com?issuer=Plinth&secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&algorithm=SHA1&digits=6&period=30',
  );
  expect(totpSecretText(secret)).toBe('GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ');
});

it('secrets have 20 bytes and differ', () => {
  const [one, other] = [newTotpSecret(), newTotpSecret()];
  expect([one.length, one.equals(other)]).toEqual([20, false]);
});
