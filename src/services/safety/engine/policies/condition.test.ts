import { expect, test } from 'vitest';
import { parseCondition } from './condition.ts';
import { compileCondition, type Situation } from './evaluation.ts';
import { checkPossible } from './possible.ts';

const situation: Situation = {
  names: {
    score: 0.9,
    count: 2,
    severity: 'error',
    pii_count: 4,
    decision: 'redact',
    direction: 'input',
    text_length: 120,
    types: ['pii.email', 'pii.iban'],
    sources: ['builtin/pii'],
    user_id: undefined,
  },
  flags: { pii_detected: true, secret_detected: false },
  context: { tool: { name: 'send_email', cost: 3 }, tags: ['vip'] },
  metadata: { channel: 'chat' },
};

function holds(condition: string): boolean {
  const steps = compileCondition(parseCondition(condition, 'condition'))(situation);
  for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value;
}

test.each([
  ['true', true],
  ['not true', false],
  ['pii_detected', true],
  ['secret_detected', false],
  ["pii_count > 3 or 'pii.iban' in types", true],
  ['pii_count > 3 and count > 3', false],
  ['count > 3 and true or pii_detected', true],
  ['count > 3 and (true or pii_detected)', false],
  ['not count > 3 and not secret_detected', true],
  ['score >= 0.9', true],
  ['score > 0.9', false],
  ['0.5 < score', true],
  ['severity >= warning', true],
  ["severity >= 'critical'", false],
  ['decision < block', true],
  ['decision == redact', true],
  ['direction != output', true],
  ["types matches 'pii.*'", true],
  ["types matches 'secret.*'", false],
  ["context.tool.name matches 'send_*'", true],
  ['context.tool.cost <= 3', true],
  ["'vip' in context.tags", true],
  ["metadata.channel in ['mail', 'chat']", true],
  // A missing value compares false, whatever the operator.
  ["user_id == 'x'", false],
  ["user_id != 'x'", false],
  ["context.absent != 'x'", false],
  ["context.__proto__.x == 'x'", false],
  ["context.constructor != 'x'", false],
  ["not context.absent == 'x'", true],
  ["score > 'x'", false],
])('%s is %s', (condition, expected) => {
  expect(holds(condition)).toBe(expected);
});

test.each([
  ["severity > 'bogus'", 'severity is info, warning, error, critical, never "bogus" at 1'],
  ["pii_detected or decision == 'blocked'", 'decision is allow, flag, redact, block, never "blocked" at 17'],
  ["'blocked' != decision", 'decision is allow, flag, redact, block, never "blocked" at 1'],
  ["direction in ['in', 'output']", 'direction is input, output, never "in" at 1'],
  ["severity in ['error', 'fatal']", 'severity is info, warning, error, critical, never "fatal" at 1'],
  ["decision matches 'blocked*'", 'decision is allow, flag, redact, block, never "blocked*" at 1'],
  ["score matches '0*'", 'score is a number, which matches no pattern at 1'],
  ["score > 'x'", 'score is a number, never "x" at 1'],
  ["score == 'high'", 'score is a number, never "high" at 1'],
  ['severity == decision', 'severity is never decision at 1'],
  ['severity > 3', 'severity is info, warning, error, critical, never 3 at 1'],
  ["types == 'pii.email'", 'types is a list, in which "in" looks for a value at 1'],
  ["types in ['a']", 'types is a list, which is in no list at 1'],
  ["'a' in severity", '"in" looks into a list, and severity is none at 1'],
  ['3 in types', 'types holds text, never 3 at 1'],
  ['user_id == 7', 'user_id is text, never 7 at 1'],
  ["user_id > 'a'", 'user_id has no order'],
  ['direction > input', 'direction has no order'],
  ["context.level > 'high'", '"high" has no order'],
  ['error > flag', '"error" and "flag" are not in one order at 1'],
  ['score > 1', 'can never be true, whatever score is'],
  ['count < 0', 'can never be true, whatever count is'],
  ['count > 1 and count < 2', 'can never be true, whatever count is'],
  ['score > 0.8 and pii_detected and score < 0.2', 'can never be true, whatever score is'],
  ['severity == error and severity == info', 'can never be true, whatever severity is'],
  ['pii_detected or (decision > redact and decision < block)', 'can never be true, whatever decision is'],
  ['not true', 'can never be true'],
  ['1 == 2', 'can never be true'],
])('%s can never be true', (condition, problem) => {
  expect(() => checkPossible(parseCondition(condition, 'condition'), 'condition')).toThrow(
    `condition: ${problem}`,
  );
});

test.each([
  ...["pii_count > 3 or 'pii.iban' in types", 'severity >= warning and severity <= error', 'not score > 0.5'],
  ...['score >= 1', 'count >= 1 and count <= 1', 'decision != allow', "severity != 'info'", '0.5 < score'],
  ...["'vip' in context.tags", "context.level > 3 and metadata.x == 'y'", "user_id in ['a', 'b']", 'true'],
  ...["types matches 'pii.*'", "sources matches 'acme-*' and pii_count == 0", 'context.a < context.b'],
  ...['severity == error or severity == info', 'score > 0.8 or score < 0.2', "direction == 'input'"],
])('%s may be true', (condition) => {
  expect(() => checkPossible(parseCondition(condition, 'condition'), 'condition')).not.toThrow();
});

test.each([
  ['', 'condition: unexpected end at 1'],
  ['score', 'condition: expected a comparison after "score" at 6'],
  ['score >', 'condition: unexpected end at 8'],
  ['score > 1 and', 'condition: unexpected end at 14'],
  ['(score > 1', 'condition: expected ")" at 11'],
  ['score > 1)', 'condition: unexpected ")" at 10'],
  ['color == 1', 'condition: unknown name "color" at 1'],
  ['context == 1', 'condition: unknown name "context" at 1'],
  ['types matches 3', 'condition: "matches" needs a pattern in quotes at 15'],
  ["decision == 'block", 'condition: text without its closing quote at 13'],
  ['score > 1 ; true', 'condition: unexpected ";" at 11'],
  ["'a' in ['b'", 'condition: expected "]" at 12'],
  ["'a' in [score]", 'condition: a list holds only literals at 9'],
  [Array.from({ length: 65 }, () => 'true').join(' or '), 'condition: more than 64 terms at 513'],
])('%s is refused with its position', (condition, message) => {
  expect(() => parseCondition(condition, 'condition')).toThrow(message);
});
