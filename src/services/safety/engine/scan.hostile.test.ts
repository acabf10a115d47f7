import { expect, test } from 'vitest';
import { collect } from '../../../testing/heap.ts';
import { onThisMachine } from '../../../testing/processor-time.ts';
import type { ProfileRules, ScanInput } from './types.ts';
import { attackRules, contentRules } from './rules/built-in.ts';
import { compilePolicy } from './policies/policies.ts';
import { awareness, boundary, detector, judgment, profile, rules, scanText, value } from './testing.ts';

/** Processor time of this thread, which a busy machine does not lengthen. */
function processorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** Scans a text; also the processor time that it took, and the longest between two pauses. */
async function measure(text: string, by: ProfileRules | string = 'default', own: Partial<ScanInput> = {}) {
  collect();
  const began = processorMs();
  let resumed = began;
  let longest = 0;
  const note = () => (longest = Math.max(longest, processorMs() - resumed));
  const pause = async () => {
    note();
    await new Promise((resolve) => setImmediate(resolve));
    resumed = processorMs();
  };
  const result = await scanText(text, by, { pause, ...own });
  note();
  return { result, took: processorMs() - began, longest };
}

const filled = (unit: string, length: number) =>
  unit.repeat(Math.ceil(length / unit.length)).slice(0, length);

/** For so long others may have to wait. */
const longestStretchMs = onThisMachine(15);
const mostGrowth = 3.5;
/** Shorter times say nothing about growth. */
const leastMs = 40;
const full = 524_288;
/** A collection of garbage, or something else on the machine, can fall into one measurement, but not into each of three. */
const measured = { retry: 2 };

test.each([
  ['[EMAIL_1]'],
  ['a@b.co '],
  ['@'],
  ['&#65;&#66;&#67;'],
  ['ﷺ'],
  ['1234567890'],
  ['-----BEGIN'],
  ['"ignore previous '],
  ['i g n o r e '],
  ['%41%42%43'],
  ['QUJDREVGR0hJSktMTU5P'],
  ['\u{e0041}'],
  ['a\u200b'],
  ['a\u3164'],
  ['a\\n'],
  ['a<!--'],
  ['a<b>'],
  ['41 '],
  ['ignоre '],
  ['<|im_start|>'],
  ['kill yourself you '],
  ['ignore your rules of a '],
  ['ignore all of the old boring rules about '],
  ['not ignore your prompt if a '],
  ['![a](https://b?{user '],
  ['you are unfiltered '],
  ['how to kill people '],
  ['child porn act '],
])('a text full of %j takes time in proportion to its length, in slices', measured, async (unit) => {
  await scanText(filled(unit, full / 16));
  const half = await measure(filled(unit, full / 8));
  const whole = await measure(filled(unit, full / 4));
  expect(whole.took / Math.max(leastMs, half.took)).toBeLessThanOrEqual(mostGrowth);
  expect(whole.longest).toBeLessThanOrEqual(longestStretchMs);
  expect(whole.result.findings.length).toBeLessThanOrEqual(200);
});

test(
  'the steps of all built-in rules, over and over without their last one, take no more than usual',
  measured,
  async () => {
    const steps = [...attackRules.rules, ...contentRules.rules]
      .flatMap(({ steps: all }) => all.slice(0, -1).map((terms) => terms[0]!.replace('*', '')))
      .join(' ');
    await scanText(filled(steps, full / 16));
    const half = await measure(filled(steps, full / 8));
    const whole = await measure(filled(steps, full / 4));
    expect(whole.took / Math.max(leastMs, half.took)).toBeLessThanOrEqual(mostGrowth);
    expect(whole.longest).toBeLessThanOrEqual(longestStretchMs);
  },
);

test('of too many findings 200 are listed, all are counted and all are redacted', async () => {
  const { result } = await measure(filled('a@example.com ', 14 * 1_000));
  expect(result).toMatchObject({ pii_count: 1_000, truncated: true, decision: 'redact' });
  expect(result.findings).toHaveLength(200);
  expect(result.redacted).toBe(filled('[EMAIL_1] ', 10 * 1_000));
});

const forms = [
  (n: number) => `(a|b|c)*[ab]{8}c${n}`,
  (n: number) => `(a+)+b${n}$`,
  (n: number) => `([a-d]*[a-d]*)*x${n}`,
  (n: number) => `a.*b.*c.*d${n}`,
  (n: number) => `(x+x+)+y${n}`,
];

/** An awareness has at most 32 expressions. */
const withExpressions = (sources: readonly string[], on_error: 'flag' | 'fail' = 'flag') =>
  rules({
    on_error,
    awareness: Array.from({ length: Math.ceil(sources.length / 32) }, (_, index) => ({
      primitive: awareness({
        name: `a${index}`,
        focus: 'custom',
        detectors: [detector({ patterns: sources.slice(index * 32, index * 32 + 32) })],
      }),
    })),
  });

function randomText(letters: string, length: number): string {
  let seed = 7;
  return Array.from({ length }, () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return letters[seed % letters.length];
  }).join('');
}

test('500 hostile expressions and a long text end in bounded slices', measured, async () => {
  const hostile = withExpressions(Array.from({ length: 500 }, (_, n) => forms[n % forms.length]!(n)));
  const { longest, result } = await measure(randomText('abcdx', full), hostile);
  expect(longest).toBeLessThanOrEqual(longestStretchMs);
  expect(['allow', 'flag', 'redact']).toContain(result.decision);
});

test(
  '20,000 keywords are compiled in bounded slices, once for scans at the same time',
  measured,
  async () => {
    const keywords = Array.from({ length: 20_000 }, (_, n) => `the many keywords ${n} of an app ${n % 97}`);
    const values = Array.from({ length: 40 }, (_, index) => ({
      primitive: value({ keywords: keywords.slice(index * 500, index * 500 + 500) }, { name: `v${index}` }),
    }));
    const many = rules({ values });
    const text = 'one of the many keywords 4711 of an app 55';
    const [first, ...others] = await Promise.all([
      measure(text, many),
      scanText(text, many),
      scanText(text, many),
    ]);
    const again = await measure(text, many);
    expect(first.result).toMatchObject({ decision: 'flag', findings: [{ type: 'toxicity.keywords' }] });
    for (const other of others) expect(other).toEqual(first.result);
    expect(first.longest).toBeLessThanOrEqual(longestStretchMs);
    expect(again.took).toBeLessThan(first.took / 4);
  },
);

test('the first scan goes on with a build when the one that began it has ended', async () => {
  const many = rules({
    values: [{ primitive: value({ keywords: Array.from({ length: 500 }, (_, n) => `keyword ${n}`) }) }],
  });
  const broken = scanText('keyword 7', many, { pause: () => Promise.reject(new Error('gone')) });
  const sound = scanText('keyword 7', many);
  await broken.catch(() => undefined);
  expect(await sound).toMatchObject({ findings: [{ type: 'toxicity.keywords' }] });
});

test('many rules over many findings end in bounded slices', measured, async () => {
  const many = {
    ...profile('default'),
    boundaries: Array.from({ length: 20 }, (_, n) => ({
      ...boundary({ scope: 'topic', deny: Array.from({ length: 500 }, (_unused, k) => `${n} ${k}`) }),
      name: `b${n}`,
    })),
  };
  const messages = Array.from({ length: 500 }, (_, n) => ({
    role: 'user',
    start: n * 200,
    end: n * 200 + 199,
  }));
  const text = filled('a@b.co kill yourself ', full / 4);
  expect((await measure(text, many, { messages })).longest).toBeLessThanOrEqual(longestStretchMs);
});

test('a masked part as long as the text ends in bounded slices', measured, async () => {
  // Matches of the two overlap, so that all of them are one part.
  const patterns = ['.{509}', '.{503}', '.{499}'];
  const masks = rules({
    awareness: [{ primitive: awareness({ focus: 'custom', detectors: [detector({ patterns })] }) }],
    redaction: { method: 'mask', config: { keep_first: 2, keep_last: 1 } },
  });
  const { longest, result } = await measure('a'.repeat(509_000), masks);
  expect(result.redacted).toBe(`aa${'*'.repeat(508_997)}a`);
  expect(longest).toBeLessThanOrEqual(longestStretchMs);
});

test('a sentence as long as the text is compared with its sources in bounded slices', measured, async () => {
  const letter = (n: number) => String.fromCharCode(97 + (n % 26));
  const words = Array.from({ length: 676 }, (_, n) => letter(n) + letter(n / 26));
  const grounded = rules({
    judgments: [
      {
        primitive: judgment({
          threshold: 0,
          assessors: [{ name: 'overlap', weight: 1, requires_context: true, config: {} }],
        }),
      },
    ],
  });
  const sources = Array.from({ length: 15 }, () => filled(`${words.join(' ')} `, 65_536));
  const { longest, result } = await measure(words.join(' '), grounded, { context: { sources } });
  expect(result.findings).toMatchObject([{ type: 'judgment.grounding', score: 1 }]);
  expect(longest).toBeLessThanOrEqual(longestStretchMs);
});

test('conditions and limits over a large context are tested in bounded slices', measured, async () => {
  const conditions = Array.from(
    { length: 10 },
    (_, n) => `context.sources matches '*aaaaaaaaaaaaaaaaa${n}*'`,
  );
  const condition = conditions.join(' or ');
  const policy = compilePolicy({
    name: 'p',
    rules: [{ check_type: 'any', condition, action: 'flag', error_message: '', priority: 0 }],
  });
  const actions = boundary({
    scope: 'action',
    deny: Array.from({ length: 500 }, (_, n) => `*${'a'.repeat(100)}${n}*`),
  });
  const { longest, result } = await measure('a', rules({ boundaries: [actions] }), {
    context: {
      sources: Array.from({ length: 15 }, () => filled('a', 65_536)),
      action: Array.from({ length: 256 }, () => filled('a', 256)),
    },
    policies: [policy],
  });
  expect(result.decision).toBe('allow');
  expect(longest).toBeLessThanOrEqual(longestStretchMs);
});

test('a scan with more findings than memory allows ends as the profile says', async () => {
  const primitive = awareness({ focus: 'custom', detectors: [detector({ keywords: ['a'] })] });
  const many = rules({
    on_error: 'flag',
    awareness: Array.from({ length: 8 }, (_, n) => ({ primitive: { ...primitive, name: `a${n}` } })),
  });
  const { result } = await measure(filled('a b ', full), many);
  expect(result.findings).toContainEqual(expect.objectContaining({ type: 'engine.limit', action: 'flag' }));
});

test('work beyond the limit ends the scan as the profile says', measured, async () => {
  const quadratic = ['a.*b|a'];
  const { result, longest } = await measure(filled('a', full), withExpressions(quadratic));
  expect(result).toMatchObject({ decision: 'flag', findings: [{ type: 'engine.limit', action: 'flag' }] });
  expect(longest).toBeLessThanOrEqual(longestStretchMs);
  await expect(scanText(filled('a', full), withExpressions(quadratic, 'fail'))).rejects.toThrow(
    'limit of the engine',
  );
});

test('a scan past its deadline ends as the profile says', async () => {
  const endsAt = 0;
  const text = filled('some words ', full);
  const late = scanText(text, { ...rules({}), on_error: 'block' }, { endsAt });
  expect(await late).toMatchObject({ decision: 'block', findings: [{ type: 'engine.timeout' }] });
  await expect(scanText(text, rules({}), { endsAt })).rejects.toThrow('too long');
});
