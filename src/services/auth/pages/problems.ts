import type { ErrorDetail, ErrorReason } from '../../../../generated/auth/types.ts';
import { DomainError } from '../../../lib/errors.ts';

/** Why a form was not taken, as its page says it. */
export interface Problems {
  readonly status: 400 | 429;
  /** What is wrong with the whole; undefined where fields say it. */
  readonly summary: string | undefined;
  /** What is wrong with each field, by its name. */
  readonly fields: Readonly<Record<string, string>>;
  /** Seconds until the next try is heard. */
  readonly retryAfter: number | undefined;
}

/** What a reason of the API says to people. */
const reasons: Partial<Record<ErrorReason, string>> = {
  user_banned: 'This account is suspended.',
  email_not_verified: 'Verify your email address first: open the link in the message that we sent you.',
  signup_disabled: 'New accounts are not open to sign-up.',
};

/** Conflicts of an account, by the words of the API. */
const taken: Readonly<Record<string, readonly [field: string, problem: string]>> = {
  'email already taken': ['email', 'There is an account with this address. Sign in instead.'],
  'username already taken': ['username', 'This username is taken.'],
};

/**
 * What people are told of an error that the form can show; others are thrown on.
 * @param wrong what a refusal of credentials means on this page
 */
export function problemsOf(thrown: unknown, wrong: string): Problems {
  if (!(thrown instanceof DomainError)) throw thrown;
  const { kind, message, retryAfter } = thrown;
  const { reason, details } = (thrown.details ?? {}) as { reason?: ErrorReason; details?: ErrorDetail[] };
  const known = reason && reasons[reason];
  if (known !== undefined) return problems(known);
  if (kind === 'rateLimited') return { ...problems(later(retryAfter ?? 1)), status: 429, retryAfter };
  if (kind === 'unauthenticated') return problems(wrong);
  if (details) return problems(undefined, Object.fromEntries(details.map(ofAnswer)));
  const conflict = kind === 'conflict' ? taken[message] : undefined;
  if (conflict) return problems(undefined, { [conflict[0]]: conflict[1] });
  if (kind === 'conflict' || kind === 'forbidden') return problems(sentence(message));
  if (kind !== 'invalid' || reason === 'invalid_token') throw thrown;
  const [, name = '', problem = ''] = /^([a-z_]+): (.*)$/s.exec(message) ?? [];
  const told = problem.startsWith('must match') ? (patterns[name] ?? problem) : problem;
  return typed.has(name) ? problems(undefined, { [name]: sentence(told) }) : problems(sentence(message));
}

/** What a pattern of the contract asks for, in words. */
const patterns: Readonly<Record<string, string>> = {
  username: 'must begin with a letter or digit; dots, dashes and underscores may follow',
};

/** Fields that pages have under the names that the API gives them. */
const typed: ReadonlySet<string> = new Set(['email', 'username', 'password', 'new_password', 'name', 'code']);

/** Answers to the questions of a form are fields of that name. */
const ofAnswer = ({ field, message }: ErrorDetail) =>
  [
    field.replace(/^metadata\./, 'field.'),
    message === 'required' ? 'This is needed.' : sentence(message),
  ] as const;

const problems = (summary: string | undefined, fields: Record<string, string> = {}): Problems => ({
  status: 400,
  summary,
  fields,
  retryAfter: undefined,
});

const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

const later = (seconds: number) => `Too many tries. Try again in ${waiting(seconds)}.`;

/** How long somebody waits, as people say it. */
export function waiting(seconds: number): string {
  const [count, unit] =
    seconds < 90 ? [Math.max(1, Math.ceil(seconds)), 'second'] : [Math.ceil(seconds / 60), 'minute'];
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
