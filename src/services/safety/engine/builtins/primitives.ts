import type {
  AttackCategory,
  AwarenessPrimitive,
  Direction,
  Focus,
  Instinct,
  Judgment,
  Principle,
  Severity,
  Strategy,
  Value,
  ValueAction,
} from '../../../../../generated/safety/types.ts';

/** Members that all built-in resources share. Their ids are the same in every release. */
const built = (prefix: string, number: number) => ({
  id: `${prefix}_${String(number).padStart(26, '0')}`,
  app_id: '',
  enabled: true,
  metadata: {},
  revision: 0,
  created_at: '1970-01-01T00:00:00.000Z',
  updated_at: '1970-01-01T00:00:00.000Z',
});

const both: Direction[] = ['input', 'output'];

const strategy = (name: Strategy['name'], weight: number): Strategy => ({ name, weight, config: {} });

const attacks: readonly [AttackCategory, string, Direction[], Strategy[]][] = [
  [
    'injection',
    'Instructions smuggled into data: overrides, forged chat templates, hidden and encoded text.',
    both,
    [strategy('patterns', 1), strategy('hierarchy', 1), strategy('obfuscation', 0.8), strategy('canary', 1)],
  ],
  ['jailbreak', "Attempts to disable the model's rules.", ['input'], [strategy('patterns', 1)]],
  [
    'exfiltration',
    "Attempts to extract the model's instructions or other data.",
    both,
    [strategy('patterns', 1), strategy('canary', 1)],
  ],
  ['manipulation', 'Pressure, flattery and false authority.', ['input'], [strategy('patterns', 1)]],
];

export const instincts: readonly Instinct[] = attacks.map(
  ([category, description, directions, strategies], index) => ({
    ...built('inst', index + 1),
    name: `builtin/${category}`,
    description,
    directions,
    category,
    strategies,
    sensitivity: 'balanced',
    action: 'block',
  }),
);

const perceived: readonly [Focus, string][] = [
  ['pii', 'Personal data.'],
  ['secrets', 'Keys, tokens and passwords.'],
];

export const awareness: readonly AwarenessPrimitive[] = perceived.map(([focus, description], index) => ({
  ...built('awr', index + 1),
  name: `builtin/${focus}`,
  description,
  directions: both,
  focus,
  detectors: [],
  threshold: 0.5,
  action: 'redact',
  redaction: null,
  allow_list: [],
}));

const protectedPrinciples: readonly [Principle, string, Severity, ValueAction][] = [
  ['toxicity', 'No insults, profanity, threats, harassment or hate.', 'warning', 'flag'],
  ['respect', 'No insults, condescension or discrimination.', 'warning', 'flag'],
  ['safety', 'No violence, weapons, drugs, self-harm, abuse or terror.', 'error', 'block'],
];

export const values: readonly Value[] = protectedPrinciples.map(
  ([principle, description, severity, action], index) => ({
    ...built('val', index + 1),
    name: `builtin/${principle}`,
    description,
    directions: both,
    rules: [{ principle, threshold: 0.8, categories: [], keywords: [], config: {} }],
    severity,
    action,
  }),
);

export const judgments: readonly Judgment[] = [
  {
    ...built('jdg', 1),
    name: 'builtin/grounding',
    description: 'Outputs claim only what their sources support.',
    directions: ['output'],
    domain: 'grounding',
    assessors: [],
    threshold: 0.6,
    action: 'flag',
  },
];

export { built };
