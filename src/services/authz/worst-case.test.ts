import { expect, test } from 'vitest';
import { onThisMachine, timeOf } from '../../testing/processor-time.ts';
import { begin, beginBatch } from './engine/decide.ts';
import { beginExplanation } from './engine/explain.ts';
import { check, emptyStore, fullModel, many, testNow, testOptions, policy, tuple } from './engine/testing.ts';
import { judgeCycles } from './engine/type-cycles.ts';
import { parseNewType, parseType } from './engine/type-graph.ts';
import type { TypeNames } from './engine/type-graph.ts';
import type { CheckInput, Decision, DecideOptions, Outcome, Work } from './engine/types.ts';
import { budgetMs, Slices, Turns } from './turns.ts';

/**
 * Maximum milliseconds for which anything may block the process. The tests run beside others, so only the thread's processor
 * time counts; the best of three excludes other effects of the machine, such as cold code.
 */
const longestBlockMs = onThisMachine(50);

/** Runs work as the models do. Returns the result and the longest time between two chances for other tasks. */
async function measured<Answer>(
  ask: (options: DecideOptions) => Outcome<Answer> | Work<Answer>,
): Promise<{ answer: Answer; longest: number; slices: number }> {
  const pace = new Slices(new Turns(), 'tenant');
  let longest = 0;
  const timed = <Result>(run: () => Result): Result => {
    const { result, took } = timeOf(run);
    longest = Math.max(longest, took);
    return result;
  };
  const begun = timed(() => ask({ ...testOptions, pace }));
  if (!('next' in begun)) return { answer: begun.answer!, longest, slices: 1 };
  for (let slices = 1; ; slices++) {
    const step = timed(() => begun.next());
    if (step.done === true) return { answer: step.value.answer!, longest, slices };
    await pace.pause();
  }
}

/** Returns the best of three runs, since the machine may be busy. */
async function best<Answer>(ask: (options: DecideOptions) => Outcome<Answer> | Work<Answer>) {
  let kept = await measured(ask);
  for (let run = 1; run < 3 && kept.longest > longestBlockMs; run++) {
    const again = await measured(ask);
    if (again.longest < kept.longest) kept = again;
  }
  return kept;
}

const reasons = (answers: readonly Decision[]) => [...new Set(answers.map(({ reason }) => reason))];

test('a batch of 200 ids of 900 characters against 10,000 wildcards', async () => {
  const pattern = (n: number) => `user:*${'a'.repeat(120)}*${'a'.repeat(100)}b${n}*`;
  const policies = many(100, (n) =>
    policy(`p${n}`, { effect: 'deny', subjects: many(100, (at) => pattern(n * 100 + at)) }),
  );
  const model = fullModel(emptyStore({ policies, tuples: [tuple('file:1#read@user:b')] }));
  const inputs = many(200, (n): CheckInput => ({
    ...check('user:a read file:1'),
    subject_id: `${'a'.repeat(900)}${n}`,
  }));
  const { answer, longest, slices } = await best((options) => beginBatch(model, inputs, options));
  expect(longest).toBeLessThan(longestBlockMs);
  expect(slices).toBeGreaterThan(1);
  // A check not decided in time is denied, and its reason says so.
  expect(reasons(answer).every((reason) => /^user "a+|limit reached: time/.test(reason))).toBe(true);
  expect(answer.every(({ allowed }) => !allowed)).toBe(true);
}, 60_000);

const letters = (seed: number) => {
  let state = seed;
  return many(
    4_096,
    () => 'abcdefgh'[((state = (state * 1_103_515_245 + 12_345) % 2_147_483_648) >> 16) & 7],
  ).join('');
};

test.each([
  ['short expressions, long fields', '(a|b|c|d|e|f|g|h)*a.{8}[xyz]$', 4_096, /has no role|: time/],
  [
    'the largest expressions, fields as long as they may be',
    '(?:.{1,30}[ab]){15}[xyz]',
    140,
    /has no role|: time/,
  ],
  ['fields too long for their expression', '[a-d].{400}[x-z]', 4_096, /limit reached: condition/],
])(
  '200 policies that deny by 32 regular expressions each: %s',
  async (_name, expression, length, reason) => {
    const policies = many(200, (n) =>
      policy(`p${n}`, {
        effect: 'deny',
        conditions: many(32, (at) => ({
          field: `x${at}`,
          operator: 'regex',
          // All conditions hold except the last, so that each is evaluated.
          value: at === 31 ? `${expression}|(${n})` : `${expression}|^[a-h]|(${n})`,
        })),
      }),
    );
    const model = fullModel(emptyStore({ policies }));
    const context = Object.fromEntries(many(32, (at) => [`x${at}`, letters(at + 1).slice(0, length)]));
    const ask = (options: DecideOptions) => begin(model, check('user:a read file:1', { context }), options);
    const { answer, longest } = await best(ask);
    expect(longest).toBeLessThan(longestBlockMs);
    expect(answer.allowed).toBe(false);
    expect(answer.reason).toMatch(reason);
    const explained = await best((options) =>
      beginExplanation(model, check('user:a read file:1', { context }), options),
    );
    expect(explained.longest).toBeLessThan(longestBlockMs);
  },
  120_000,
);

test('large conditions on large contexts', async () => {
  const objects = many(400, (n) => ({ n }));
  const conditions = many(8, (n) => [
    { field: 'list', operator: 'not_in', value: [...objects, { no: n }] },
    { field: 'list', operator: 'contains', value: { n: 7 } },
    { field: 'text', operator: 'contains', value: `${'a'.repeat(2_000)}` },
    { field: 'ip', operator: 'ip_not_in_cidr', value: many(200, (at) => `10.${at}.0.0/16`) },
  ]).flat();
  const policies = many(500, (n) => policy(`p${n}`, { effect: 'deny', conditions: conditions.slice(1) }));
  const model = fullModel(emptyStore({ policies: [...policies, policy('all', { conditions })] }));
  const context = {
    list: many(1_200, (n) => ({ n: n + 7 })),
    text: `${'a'.repeat(1_999)}b`.repeat(3),
    ip: '192.0.2.1',
  };
  const inputs = many(50, () => check('user:a read file:1', { context: { ...context } }));
  const { longest } = await best((options) => beginBatch(model, inputs, options));
  expect(longest).toBeLessThan(longestBlockMs);
}, 60_000);

test('a graph as wide as the visits, through expressions of 64 terms', async () => {
  const node = {
    id: 'rtype_node',
    name: 'node',
    relations: [
      { name: 'in', subjects: ['user', 'node#in'], expression: many(64, () => 'this').join(' + ') },
    ],
    permissions: [],
  };
  const tuples = many(60_000, (n) => tuple(`node:${Math.floor(n / 40)}#in@node:${n + 1}#in`));
  const model = fullModel(emptyStore({ resource_types: [node], tuples }));
  const { answer, longest } = await best((options) => begin(model, check('user:a in node:0'), options));
  expect(answer.reason).toBe('evaluation limit reached: visits');
  expect(longest).toBeLessThan(longestBlockMs);
}, 60_000);

/**
 * A path longer than the depth limit, beside nodes each of which is decided only when the next one is: subtractions and cycles
 * have to be settled one after the other.
 */
const strata = (count: number, leaves: number) => {
  const at = (n: number) => [
    `node:root#kids@node:k${n}`,
    `node:k${n}#next@node:k${n + 1}`,
    `node:k${n}#self@node:k${n}`,
    `node:k${n}#all@user:a`,
  ];
  const tuples = [
    ...many(count, at).flat(),
    ...many(80, (n) => `node:${n === 0 ? 'root' : `d${n}`}#deep@node:d${n + 1}`),
    ...many(leaves, (n) => `node:root#deep@node:f${n}`),
  ].map((text) => tuple(text));
  const node = {
    id: 'rtype_node',
    name: 'node',
    relations: [
      ...['kids', 'next', 'self', 'deep'].map((name) => ({ name, subjects: ['node'] })),
      { name: 'all', subjects: ['user'] },
    ],
    permissions: [
      { name: 'after', expression: 'next->x' },
      { name: 'x', expression: 'self->x + (all - after)' },
      { name: 'in', expression: 'deep->in + kids->x' },
    ],
  };
  return fullModel(emptyStore({ resource_types: [node], tuples }));
};

test.each([
  [50, 30_000, 'relation "node:root#in" includes user "a"'],
  [2_000, 20_000, 'relation "node:root#in" includes user "a"'],
  [6_000, 0, 'relation "node:root#in" includes user "a"'],
])(
  '%i nodes that are decided one after the other, beside %i others',
  async (count, leaves, reason) => {
    const model = strata(count, leaves);
    const { answer, longest } = await best((options) => begin(model, check('user:a in node:root'), options));
    expect(answer.reason).toBe(reason);
    expect(longest).toBeLessThan(longestBlockMs);
  },
  120_000,
);

test('a type among a hundred large ones', async () => {
  const large = (n: number) => ({
    id: `rtype_${n}`,
    name: `t${n}`,
    relations: many(64, (at) => ({
      name: `r${at}`,
      subjects: many(32, (to) => `t${(n + to) % 101}${to % 2 === 0 ? '' : `#r${at}`}`),
      expression: many(40, (to) => `r${to}->p${at}`).join(' + '),
    })),
    permissions: many(64, (at) => ({ name: `p${at}`, expression: many(60, (to) => `r${to}`).join(' + ') })),
  });
  const run = () => {
    const others = new Map<string, TypeNames>();
    let longest = 0;
    const timed = <Result>(work: () => Result): Result => {
      const { result, took } = timeOf(work);
      longest = Math.max(longest, took);
      return result;
    };
    for (const type of many(20, (n) => large(n + 1)))
      others.set(
        type.name,
        timed(() => parseType(type)),
      );
    const type = large(0);
    const names = timed(() => parseNewType(type));
    const work = judgeCycles(type.name, names, others);
    while (timed(() => work.next()).done !== true);
    return longest;
  };
  expect(Math.min(run(), run(), run())).toBeLessThan(longestBlockMs);
}, 60_000);

test('tenants take turns, one slice each', async () => {
  const turns = new Turns();
  const order: string[] = [];
  await Promise.all(
    ['a', 'a', 'a', 'b', 'c'].map(async (tenant) => {
      await turns.next(tenant);
      order.push(tenant);
      turns.spend(1_000);
    }),
  );
  expect(order).toEqual(['a', 'b', 'c', 'a', 'a']);
});

test('what takes too long is denied with the reason, and the budget of a request is what it says', async () => {
  const policies = [policy('slow', { effect: 'deny', subjects: ['x*'] }), policy('all')];
  const model = fullModel(emptyStore({ policies }));
  const pace = { isPauseDue: false, isOver: true };
  const work = beginBatch(
    model,
    many(100, () => check('user:a read file:1')),
    { ...testOptions, pace },
  );
  const { answer } = (work.next().value ?? {}) as Outcome<Decision[]>;
  expect(answer?.at(-1)).toEqual({
    allowed: false,
    decision: 'deny',
    reason: 'evaluation limit reached: time',
    sources: ['abac'],
    matched_by: null,
  });
  expect([budgetMs, testNow]).toEqual([1_000, testOptions.now]);
});
