import { expect, test } from 'vitest';
import {
  awareness,
  boundary,
  detector,
  instinct,
  judgment,
  reflex,
  rules,
  scanText,
  value,
} from '../testing.ts';
import { noisyOr, rounded } from '../rules/weights.ts';

test('independent evidence adds up', () => {
  expect(noisyOr([0.75, 0.5])).toBe(0.875);
  expect(noisyOr([])).toBe(0);
  expect(rounded(0.00005)).toBe(0.0001);
  expect(rounded(0.99994)).toBe(0.9999);
});

const canaries = (
  weight: number,
  sensitivity: 'paranoid' | 'cautious' | 'balanced' | 'relaxed' | 'permissive',
) =>
  rules({
    instincts: [
      {
        primitive: instinct({
          strategies: [{ name: 'canary', weight, config: { tokens: ['canary-7f3a9c21'] } }],
          sensitivity,
        }),
      },
    ],
  });

test.each([
  ['paranoid', 0.2],
  ['cautious', 0.4],
  ['balanced', 0.6],
  ['relaxed', 0.8],
  ['permissive', 0.95],
] as const)('%s triggers at %d and not just below', async (sensitivity, threshold) => {
  const text = 'The code is CANARY-7f3a9c21.';
  expect((await scanText(text, canaries(threshold, sensitivity))).findings).toMatchObject([
    { score: threshold, start: 12, end: 27 },
  ]);
  expect((await scanText(text, canaries(threshold - 0.0001, sensitivity))).findings).toEqual([]);
});

test('a profile overrides sensitivity and threshold', async () => {
  const primitive = instinct({
    sensitivity: 'permissive',
    strategies: [{ name: 'canary', weight: 0.5, config: {} }],
  });
  const scanWith = (sensitivity: 'cautious' | null) =>
    scanText('token canary-token', rules({ instincts: [{ primitive, sensitivity }] }), {
      context: { canaries: ['canary-token'] },
    });
  expect((await scanWith(null)).decision).toBe('allow');
  expect((await scanWith('cautious')).decision).toBe('block');
});

test('an output that repeats the system prompt is found', async () => {
  const prompt =
    'You are the assistant of a bank and you never speak about the weather or about politics to anybody.';
  const profile = rules({ instincts: [{ primitive: instinct({ category: 'exfiltration' }) }] });
  const own = { direction: 'output' as const, context: { system_prompt: prompt } };
  expect((await scanText(`Sure: ${prompt}`, profile, own)).decision).toBe('block');
  expect((await scanText('The weather is fine today.', profile, own)).decision).toBe('allow');
  expect((await scanText(`Sure: ${prompt}`, profile, { ...own, direction: 'input' })).decision).toBe('allow');
});

const drugs = 'The police found cocaine and heroin.';

test.each([
  ['topic', { deny: ['drugs'] }, drugs, true],
  ['topic', { deny: ['gambling'] }, drugs, false],
  ['topic', { deny: ['heroin'] }, drugs, true],
  ['topic', { allow: ['drugs'], use_allow: true }, drugs, false],
  ['topic', { allow: ['gambling'], use_allow: true }, drugs, true],
  ['action', { deny: ['delete_*'] }, 'x', true],
  ['action', { deny: ['read_*'] }, 'x', false],
  ['action', { allow: ['delete_file'], use_allow: true }, 'x', false],
  ['action', { allow: ['read_*'], use_allow: true }, 'x', true],
  ['data', { deny: ['pii.*'] }, 'a@example.com', true],
  ['data', { deny: ['secret.*'] }, 'a@example.com', false],
  ['data', { allow: ['pii.email'], use_allow: true }, 'a@example.com', false],
  ['data', { allow: ['pii.iban'], use_allow: true }, 'a@example.com', true],
  ['custom', { deny: ['Zébra'] }, 'a ZEBRA!', true],
  ['custom', { deny: ['zebra'] }, 'zebras', false],
  ['custom', { deny: ['zebra'], match: 'substring' }, 'zebras', true],
  ['custom', { deny: ['z[a-e]b'], match: 'regex' }, 'zebras', true],
  ['custom', { deny: ['z[a-e]b'], match: 'regex' }, 'ｚｅｂｒａ', true],
  ['custom', { allow: ['order'], use_allow: true }, 'my order', false],
  ['custom', { allow: ['order'], use_allow: true }, 'my dog', true],
  ['output', { deny: ['zebra'] }, 'zebra', false],
] as const)('a limit on %s: %j in %j', async (scope, limit, text, isBlocked) => {
  const profile = rules({
    boundaries: [
      boundary(
        {
          scope,
          ...limit,
          deny: [...('deny' in limit ? limit.deny : [])],
          allow: [...('allow' in limit ? limit.allow : [])],
        },
        'No.',
      ),
    ],
  });
  const result = await scanText(text, profile, { context: { action: 'delete_file' } });
  expect([result.blocked, result.response]).toEqual(isBlocked ? [true, 'No.'] : [false, '']);
});

test('a limit on outputs concerns outputs', async () => {
  const profile = rules({ boundaries: [boundary({ scope: 'output', deny: ['zebra'] })] });
  expect((await scanText('zebra', profile, { direction: 'output' })).blocked).toBe(true);
});

test.each([
  ['you are an idiot', 'toxicity', true],
  ['he is not an idiot', 'toxicity', false],
  ['y0u are an 1d10t', 'toxicity', true],
  ['how to build a pipe bomb', 'safety', true],
  ['how to build a bath bomb', 'safety', false],
] as const)('%s violates %s: %s', async (text, principle, isFound) => {
  const profile = rules({ values: [{ primitive: value({ principle, threshold: 0.6 }) }] });
  expect((await scanText(text, profile)).decision).toBe(isFound ? 'flag' : 'allow');
});

test('topics, sentiment, intents and languages are perceived', async () => {
  const perceive = async (own: Parameters<typeof awareness>[0], text: string) => {
    const { findings } = await scanText(
      text,
      rules({ awareness: [{ primitive: awareness({ action: 'flag', ...own }) }] }),
    );
    return findings.map(({ type }) => type);
  };
  expect(await perceive({ focus: 'topic' }, drugs)).toEqual(['topic.drugs']);
  expect(await perceive({ focus: 'intent' }, 'I would like to cancel my subscription.')).toEqual([
    'intent.cancellation',
  ]);
  expect(await perceive({ focus: 'sentiment' }, 'Terrible, awful, horrible, the worst catastrophe.')).toEqual(
    ['sentiment.negative'],
  );
  expect(await perceive({ focus: 'sentiment' }, 'A wonderful and great day, happy people.')).toEqual([]);
  const english = [detector({ name: 'language.other', config: { allow: ['en'] } })];
  const german =
    'Die Geschichte der Stadt beginnt im frühen Mittelalter, als hier die ersten Häuser gebaut wurden.';
  expect(await perceive({ focus: 'language', detectors: english }, german)).toEqual(['language.other']);
});

const sources = ['The tower was built in 1889 by Gustave Eiffel and is 330 metres tall.'];
const claims =
  'The tower was built in 1889 by Gustave Eiffel. Aliens from distant planets destroyed every bridge in 1950.';

test.each([
  // One of two sentences has no support; 1950 and nothing else is unknown of 1889, Gustave, Eiffel, 1950.
  ['grounding', 'overlap', 0.5],
  ['consistency', 'numbers', 0.25],
] as const)('the %s of a text by %s is %d', async (domain, name, risk) => {
  const primitive = judgment({
    domain,
    threshold: 0.1,
    assessors: [{ name, weight: 1, requires_context: true, config: {} }],
  });
  const { findings } = await scanText(claims, rules({ judgments: [{ primitive }] }), {
    context: { sources },
  });
  expect(findings).toMatchObject([{ score: risk, type: `judgment.${domain}` }]);
});

test('required and forbidden words, relevance and missing context', async () => {
  const compliance = judgment({
    domain: 'compliance',
    threshold: 0.5,
    assessors: [
      {
        name: 'keywords',
        weight: 1,
        requires_context: false,
        config: { required: ['risk'], forbidden: ['guaranteed'] },
      },
    ],
  });
  const complies = async (text: string) =>
    (await scanText(text, rules({ judgments: [{ primitive: compliance }] }))).findings.map(
      ({ score }) => score,
    );
  expect(await complies('Mind the risk.')).toEqual([]);
  expect(await complies('Guaranteed, but mind the risk.')).toEqual([0.5]);
  expect(await complies('Guaranteed.')).toEqual([1]);
  const relevance = rules({ judgments: [{ primitive: judgment({ domain: 'relevance' }) }] });
  const asked = (text: string) =>
    scanText(text, relevance, { context: { question: 'How tall is the Eiffel tower?' } });
  expect((await asked('The Eiffel tower is 330 metres tall.')).decision).toBe('allow');
  expect((await asked('Bananas grow quickly.')).decision).toBe('flag');
  expect((await scanText('x', relevance)).skipped).toEqual(['judgment/judgment: no question']);
});

test.each([[[]], [['', ' \n']]])('sources that say nothing, %j, are the same as none', async (sources) => {
  const grounding = rules({ judgments: [{ primitive: judgment({ domain: 'grounding', action: 'block' }) }] });
  const [none, silent] = [
    await scanText(claims, grounding),
    await scanText(claims, grounding, { context: { sources } }),
  ];
  expect(silent).toEqual(none);
  expect(silent).toMatchObject({ decision: 'allow', findings: [] });
  expect(silent.skipped).toEqual(['judgment/judgment: no sources']);
});

test('primitives that are disabled are named, unless they are for the other direction', async () => {
  const disabled = { enabled: false };
  const { decision, skipped } = await scanText(
    'Write to john@example.com',
    rules({
      instincts: [{ primitive: instinct({ name: 'a', ...disabled }) }],
      awareness: [
        { primitive: awareness({ name: 'b', ...disabled }) },
        { primitive: awareness({ name: 'outputs', directions: ['output'], ...disabled }) },
      ],
      boundaries: [{ ...boundary({ deny: ['x'] }), name: 'c', ...disabled }],
      values: [{ primitive: value({}, { name: 'd', ...disabled }) }],
      judgments: [{ primitive: judgment({ name: 'e', ...disabled }) }],
      reflexes: [reflex({ name: 'f', ...disabled })],
    }),
  );
  expect(decision).toBe('allow');
  const names = ['instinct/a', 'awareness/b', 'boundary/c', 'value/d', 'judgment/e', 'reflex/f'];
  expect(skipped).toEqual(names.map((name) => `${name}: disabled`));
});

test.each([
  ['straße 7', 'STRASSE 7'],
  ['Café', 'cafe\u0301'],
  ['ΣΊΣΥΦΟΣ', 'σίσυφος'],
])('what is allowed or looked for as %s is also %s', async (known, written) => {
  const named = detector({ name: 'custom.street', keywords: [known] });
  const looking = awareness({ focus: 'custom', detectors: [named] });
  const finds = (primitive: typeof looking, text: string) =>
    scanText(text, rules({ awareness: [{ primitive }] })).then(({ findings }) => findings.length);
  for (const text of [written, known]) {
    expect(await finds(looking, `at ${text}.`)).toBe(1);
    expect(await finds({ ...looking, allow_list: [known] }, `at ${text}.`)).toBe(0);
    expect(await finds({ ...looking, allow_list: [written] }, `at ${text}.`)).toBe(0);
  }
});

test('context of another type is ignored and named', async () => {
  const { skipped } = await scanText('x', rules({}), {
    context: { question: 5, sources: 'x', __proto__: null },
  });
  expect(skipped).toEqual([
    'context.question: ignored because of its type',
    'context.sources: ignored because of its type',
  ]);
});

test.each([
  [{ type: 'always' }, true],
  [{ type: 'on_score', threshold: 0.9, pattern: 'awareness' }, true],
  [{ type: 'on_score', threshold: 0.96 }, false],
  [{ type: 'on_finding', pattern: 'pii.*' }, true],
  [{ type: 'on_finding', pattern: 'secret.*' }, false],
  [{ type: 'on_pattern', pattern: '[a-z]+@' }, true],
  [{ type: 'on_context', path: 'user.level', operator: 'gt', value: 2 }, true],
  [{ type: 'on_context', path: 'user.level', operator: 'in', value: [1, 2] }, false],
  [{ type: 'on_context', path: 'user.name', operator: 'exists' }, false],
] as const)('the trigger %j fires: %s', async (trigger, isFired) => {
  const profile = rules({
    awareness: [{ primitive: awareness({ action: 'log' }) }],
    reflexes: [reflex({ triggers: [trigger], actions: [{ type: 'block' }] })],
  });
  const { blocked } = await scanText('a@example.com', profile, { context: { user: { level: 3 } } });
  expect(blocked).toBe(isFired);
});

test.each([
  ['any', true],
  ['all', false],
] as const)('a reflex of which one of two triggers fires acts if %s has to: %s', async (match, isBlocked) => {
  const triggers = [
    { type: 'on_finding', pattern: 'pii.*' } as const,
    { type: 'on_pattern', pattern: 'x' } as const,
  ];
  const profile = rules({
    awareness: [{ primitive: awareness({ action: 'log' }) }],
    reflexes: [reflex({ triggers, match, actions: [{ type: 'block' }] })],
  });
  expect((await scanText('a@b.co', profile)).blocked).toBe(isBlocked);
  // Both fire.
  expect((await scanText('a@b.co x', profile)).blocked).toBe(true);
});

test('a profile overrides the threshold of a judgment', async () => {
  const primitive = judgment({
    domain: 'consistency',
    threshold: 0.9,
    assessors: [{ name: 'numbers', weight: 1, requires_context: true, config: {} }],
  });
  const decided = async (threshold: number | null) =>
    (await scanText(claims, rules({ judgments: [{ primitive, threshold }] }), { context: { sources } }))
      .decision;
  expect([await decided(null), await decided(0.25), await decided(0.2501)]).toEqual([
    'allow',
    'flag',
    'allow',
  ]);
});

test('reflexes redact, rewrite and fall back', async () => {
  const act = (actions: Parameters<typeof reflex>[0] & object) =>
    scanText(
      'a@example.com',
      rules({ awareness: [{ primitive: awareness({ action: 'flag' }) }], reflexes: [reflex(actions)] }),
    );
  expect((await act({ actions: [{ type: 'redact', target: 'pii.*' }] })).redacted).toBe('[EMAIL_1]');
  expect((await act({ actions: [{ type: 'redact', target: 'x', fallback: 'block' }] })).decision).toBe(
    'block',
  );
  expect(await act({ actions: [{ type: 'rewrite', value: 'No: {{decision}}, {{types}}' }] })).toMatchObject({
    decision: 'redact',
    redacted: 'No: redact, pii.email, reflex.rewrite',
  });
});
