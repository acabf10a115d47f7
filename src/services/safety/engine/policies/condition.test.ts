import { expect, test } from 'vitest';
import { parseCondition } from './condition.ts';
import { compileCondition, type Situation } from './evaluation.ts';

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
