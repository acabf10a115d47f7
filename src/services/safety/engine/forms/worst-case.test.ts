import { describe, expect, it, vi } from 'vitest';
import { longestTurnOf, onThisMachine } from '../../../../testing/processor-time.ts';
import { recognise } from './index.ts';
import { allDetectors } from './testing.ts';

const full = 524_288;
const filled = (piece: string, length: number) =>
  piece.repeat(Math.ceil(length / piece.length)).slice(0, length);

/** Pieces that begin a form over and over, or nearly complete one. */
const pieces = [
  ...[
    '@',
    '0',
    '1',
    '4',
    'a',
    'A',
    'f',
    ' ',
    ':',
    '::',
    '+',
    '(',
    '-',
    '.',
    '=',
    '/',
    '<',
    '_',
    '\u200b',
    '４',
    '中',
    'é',
    '\ud800',
  ],
  ...[
    'a@',
    'a.a@b.',
    `${'a'.repeat(64)}@`,
    'a@b.c1.',
    '1.',
    '1.1.1.1.',
    '8.8.8.8 ',
    '1:',
    'a:b:',
    '1::',
    '00:',
    '00-',
    'ff-ff-',
  ],
  ...[
    '1 ',
    '12-',
    '1-2/3.4 ',
    '123-45-6789 ',
    '4111 1111 1111 1111 ',
    '4111-',
    '123456789 ',
    '111222333\n',
    '12345678901 ',
    '(1',
    ')(',
  ],
  ...[
    '+1',
    '+1 2',
    '+12125550100 ',
    '0044',
    '+49 30 1 2 3 4 5 6 ',
    '212-456-7890 ',
    '1/1/2000 ',
    'March 3, 1999 ',
    ' 1999',
    '48.858, 2.294 ',
  ],
  ...[
    'DE89 3704 ',
    'DE89',
    'DE89370400440532013000 ',
    'GB82 WEST ',
    'P<',
    'P<UTO',
    'P<UTO\n',
    'I<UTOD<',
    'IDFRA<<<',
  ],
  ...[
    '-----BEGIN',
    '-----BEGIN ',
    '-----BEGIN PRIVATE KEY-----',
    '-----BEGIN PRIVATE KEY-----\n\n\n\n',
    '-----BEGIN PRIVATE KEY-----A ',
    '-----',
  ],
  ...[
    'eyJ',
    'eyJ.',
    'eyJhbGciOiJIUzI1NiJ9.',
    'eyJhbGciOiJIUzI1NiJ9.e.',
    'sk-',
    'sk-ant-',
    'xoxb-',
    'ghp_',
    'SG.',
    'AIza',
    'AKIA',
    'AKIAIOSFODNN7QWERTYU ',
  ],
  ...[
    'password=',
    'password="',
    'token: ',
    'a=',
    'aws_secret_access_key=',
    'AccountKey=',
    'api_key=x7Kq92mVb4Tz81Lp ',
    '"service_account"',
  ],
  ...[
    'http://',
    'a://b',
    'a://b:c@',
    'a://b:c',
    'https://hooks.slack.com/',
    '://',
    'postgres://u:s3cr3t@h/ ',
  ],
  ...[
    '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa ',
    'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq ',
    '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed ',
  ],
  ...[
    '[EMAIL_1]',
    'mr. ',
    'my name is ',
    'Dr. Aa ',
    '1M8GDM9AXKP042788 ',
    'AB 12 34 56 ',
    'X-1234567-',
    '12.345.678-',
    'A1',
  ],
];

/** What a text costs: how often the event loop was given back, and how long the work took. */
async function costOf(text: string) {
  let pauses = 0;
  const began = process.threadCpuUsage();
  await recognise({ text, detectors: allDetectors, region: 'US', pause: async () => void pauses++ });
  const { user, system } = process.threadCpuUsage(began);
  return { pauses, took: (user + system) / 1_000 };
}

describe('the worst texts', () => {
  it.each(pieces)('work on "%s" grows with the text, not with its square', async (piece) => {
    // A collection of garbage can fall into one measurement, but not into each of several; a square is in all of them.
    await vi.waitFor(
      async () => {
        const half = await costOf(filled(piece, full / 16));
        const whole = await costOf(filled(piece, full / 8));
        expect(whole.pauses).toBeLessThanOrEqual(half.pauses * 2.3 + 2);
        // A square would be four times the time; the time of short work says nothing.
        expect(whole.took).toBeLessThan(half.took * 3.4 + 40);
      },
      { timeout: 20_000, interval: 0 },
    );
  });

  it.each(['+12125550100 ', '212-456-7890 ', '111222333\n', '\u200b', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa '])(
    'full of "%s" give others their turn',
    // As above: what is ours is in each of three measurements.
    { retry: 2 },
    async (piece) => {
      const pause = () => new Promise<void>((resolve) => setImmediate(resolve));
      const text = filled(piece, full);
      const longest = await longestTurnOf(() =>
        recognise({ text, detectors: allDetectors, region: 'US', pause }),
      );
      expect(longest).toBeLessThan(onThisMachine(50));
    },
  );
});
