import { describe, expect, it } from 'vitest';
import { compileRanges } from '../../../lib/addresses.ts';
import type { Outcome } from '../../../../generated/keys/types.ts';
import {
  judge,
  stateAt,
  uncheckedOf,
  type CompiledPolicy,
  type Question,
  type Subject,
} from './judgement.ts';
import { compileOrigins } from './origins.ts';
import { holdScopes } from './scopes.ts';

const now = Date.parse('2026-11-20T12:00:00.000Z');
const hour = 3_600_000;

const policy: CompiledPolicy = {
  id: 'kpol_1',
  rate: null,
  maxKeyAgeMs: 24 * hour,
  requireContext: true,
  addresses: compileRanges(['203.0.113.0/24']),
  origins: compileOrigins(['https://app.example.com']),
};
const good: Subject = {
  secretCreatedAt: now - hour,
  graceEndsAt: null,
  dead: false,
  state: 'active',
  expiresAt: now + hour,
  environment: 'live',
  scopes: holdScopes(['read:*']),
  policy,
};
const asked: Question = {
  requiredScopes: ['read:users'],
  ip: '203.0.113.7',
  origin: 'https://app.example.com',
  environment: 'live',
};

interface Flaw {
  readonly code: Outcome;
  readonly subject?: Partial<Subject>;
  readonly question?: Partial<Question>;
}

/** One flaw for each row of the table, in the table's order. Alternatives of one row are grouped. */
const table: readonly (readonly Flaw[])[] = [
  [{ code: 'ROTATED', subject: { graceEndsAt: now - 1 } }],
  [
    { code: 'REVOKED', subject: { state: 'revoked' } },
    { code: 'SUSPENDED', subject: { state: 'suspended' } },
    { code: 'EXPIRED', subject: { expiresAt: now - 1 } },
  ],
  [{ code: 'TOO_OLD', subject: { secretCreatedAt: now - 25 * hour } }],
  [{ code: 'ENVIRONMENT_MISMATCH', question: { environment: 'test' } }],
  [{ code: 'CONTEXT_REQUIRED', question: { origin: null } }],
  [{ code: 'IP_NOT_ALLOWED', question: { ip: '198.51.100.1' } }],
  [{ code: 'ORIGIN_NOT_ALLOWED', question: { origin: 'https://evil-example.com' } }],
  [{ code: 'INSUFFICIENT_SCOPES', question: { requiredScopes: ['read:users', 'write:users'] } }],
];

/** Returns every way to take at most one flaw from each row. */
function combinations(rows: readonly (readonly Flaw[])[]): Flaw[][] {
  const [first, ...rest] = rows;
  if (first === undefined) return [[]];
  return combinations(rest).flatMap((tail) => [tail, ...first.map((flaw) => [flaw, ...tail])]);
}

describe('the validation table', () => {
  it('passes a key without a flaw', () => {
    expect(judge(good, asked, now)).toBe('VALID');
  });

  it.each(table.flat())('answers $code to that flaw alone', (flaw) => {
    expect(judge({ ...good, ...flaw.subject }, { ...asked, ...flaw.question }, now)).toBe(flaw.code);
  });

  it('answers the first failing code in every combination of flaws', () => {
    const all = combinations(table);
    expect(all).toHaveLength(4 * 2 ** 7);
    for (const flaws of all) {
      const subject = flaws.reduce((all, flaw) => ({ ...all, ...flaw.subject }), good);
      // An origin cannot be both missing and wrong: the earlier row wins.
      const question = flaws.reduceRight((all, flaw) => ({ ...all, ...flaw.question }), asked);
      expect(judge(subject, question, now), flaws.map(({ code }) => code).join('+')).toBe(
        flaws[0]?.code ?? 'VALID',
      );
    }
  });
});

describe('the secret', () => {
  it.each<[string, Partial<Subject>, Outcome]>([
    ['in grace still works', { graceEndsAt: now + 1 }, 'VALID'],
    ['at the end of its grace is rotated', { graceEndsAt: now }, 'ROTATED'],
    ['whose grace was ended early is rotated', { graceEndsAt: now + hour, dead: true }, 'ROTATED'],
    ['of a revoked key says so, although it is dead', { state: 'revoked', dead: true }, 'REVOKED'],
    [
      'in grace of a revoked key says so, too',
      { state: 'revoked', dead: true, graceEndsAt: now + 1 },
      'REVOKED',
    ],
    [
      'replaced before its key was revoked is rotated',
      { state: 'revoked', dead: true, graceEndsAt: now },
      'ROTATED',
    ],
    ['replaced without grace is rotated', { dead: true }, 'ROTATED'],
    ['exactly of the highest age still works', { secretCreatedAt: now - 24 * hour }, 'VALID'],
    ['a millisecond older does not', { secretCreatedAt: now - 24 * hour - 1 }, 'TOO_OLD'],
  ])('%s', (_, subject, code) => {
    expect(judge({ ...good, ...subject }, asked, now)).toBe(code);
  });
});

describe('the state', () => {
  it.each<[Subject['state'], number | null, Subject['state']]>([
    ['active', null, 'active'],
    ['active', now + 1, 'active'],
    ['active', now, 'expired'],
    ['suspended', now - 1, 'expired'],
    ['suspended', null, 'suspended'],
    ['expired', null, 'expired'],
    ['revoked', now - 1, 'revoked'],
  ])('stored as %s with expiry %s is %s', (state, expiresAt, expected) => {
    expect(stateAt({ state, expiresAt }, now)).toBe(expected);
  });
});

describe('what the caller did not send', () => {
  const lenient = { ...policy, requireContext: false };

  it.each<[CompiledPolicy | null, Partial<Question>, readonly string[], Outcome]>([
    [null, { ip: null, origin: null }, [], 'VALID'],
    [lenient, {}, [], 'VALID'],
    [lenient, { ip: null }, ['ip'], 'VALID'],
    [lenient, { origin: null }, ['origin'], 'VALID'],
    [lenient, { ip: null, origin: null }, ['ip', 'origin'], 'VALID'],
    [lenient, { ip: '198.51.100.1', origin: null }, ['origin'], 'IP_NOT_ALLOWED'],
    [policy, { ip: null }, ['ip'], 'CONTEXT_REQUIRED'],
    [{ ...policy, addresses: null, origins: null }, { ip: null, origin: null }, [], 'VALID'],
    [{ ...policy, origins: null }, { origin: null }, [], 'VALID'],
  ])('is listed, or refused by require_context (%#)', (given, question, unchecked, code) => {
    const sent = { ...asked, ...question };
    expect(uncheckedOf(given, sent)).toEqual(unchecked);
    expect(judge({ ...good, policy: given }, sent, now)).toBe(code);
  });

  it('includes the environment and scopes: without them the question is only whether the key is genuine', () => {
    expect(judge(good, { ...asked, environment: null, requiredScopes: [] }, now)).toBe('VALID');
  });
});
