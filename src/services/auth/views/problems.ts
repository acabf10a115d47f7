import type { ErrorDetail, ErrorReason } from '../../../../generated/auth/types.ts';
import { DomainError } from '../../../lib/errors.ts';

/** Why a form was refused, as its page shows it. */
export interface Problems {
  readonly status: 400 | 429;
  /** The problem with the whole form; undefined if the fields explain it. */
  readonly summary: string | undefined;
  /** The problem with each field, by its name. */
  readonly fields: Readonly<Record<string, string>>;
  /** Seconds until the next try is accepted. */
  readonly retryAfter: number | undefined;
}

/** Explanations of API reasons for users. */
const reasons: Partial<Record<ErrorReason, string>> = {
  user_banned: 'This account is suspended.',
  email_not_verified: 'Verify your email address first: open the link in the message that we sent you.',
  signup_disabled: 'This app does not accept new accounts.',
};

/** Conflicts of an account, by the API's message. */
const taken: Readonly<Record<string, readonly [field: string, problem: string]>> = {
  'email already taken': ['email', 'There is already an account with this address. Sign in instead.'],
  'username already taken': ['username', 'This username is already taken.'],
};

/**
 * What users are told about an error that the form can show; other errors are rethrown.
 * @param wrong what a refusal of credentials means on this page
 */
export function problemsOf(thrown: unknown, wrong: string): Problems {
  if (!(thrown instanceof DomainError)) throw thrown;
  const { kind, message, retryAfter } = thrown;
  const { reason, details } = (thrown.details ?? {}) as { reason?: ErrorReason; details?: ErrorDetail[] };
  const known = reason && reasons[reason];
  if (known !== undefined) return problems(known);
  if (kind === 'rateLimited') {
    const summary = message.startsWith('too many') ? later(retryAfter ?? 1) : sentence(message);
    return { ...problems(summary), status: 429, retryAfter };
  }
  if (kind === 'unauthenticated') return problems(wrong);
  if (details) return problems(undefined, Object.fromEntries(details.map(ofAnswer)));
  const conflict = kind === 'conflict' ? taken[message] : undefined;
  if (conflict) return problems(undefined, { [conflict[0]]: conflict[1] });
  const told = wholes[message];
  if (told !== undefined) return problems(told);
  if (kind === 'conflict' || kind === 'forbidden') return problems(sentence(message));
  if (kind !== 'invalid' || reason === 'invalid_token') throw thrown;
  const [, name = '', problem = ''] = /^([a-z_]+): (.*)$/s.exec(message) ?? [];
  const meant = problem.startsWith('must match') ? (patterns[name] ?? problem) : problem;
  const subject = subjects[name];
  return subject === undefined
    ? problems(sentence(message))
    : problems(undefined, { [name]: about(subject, meant) });
}

/** The meaning of the contract's patterns, in words. */
const patterns: Readonly<Record<string, string>> = {
  username: 'must begin with a letter or a digit; dots, dashes and underscores may follow',
};

/** Problems with a whole form, by the API's message. */
const wholes: Readonly<Record<string, string>> = {
  'already a member': 'You are already a member.',
  'sms is not configured': 'Text messages cannot be sent here.',
};

/** The subjects of sentences about fields that have the same name on pages as in the API. */
const subjects: Readonly<Record<string, string>> = {
  email: 'The address',
  username: 'The username',
  password: 'The password',
  new_password: 'The password',
  name: 'The name',
  code: 'The code',
};

/** The API's messages begin with the name of the field, so their problems are sentences without a subject. */
const about = (subject: string, problem: string) =>
  /^(is|are|has|must|may|can|cannot|does|repeats)\b/.test(problem)
    ? sentence(`${subject} ${problem}`)
    : sentence(problem);

/** An answer to a question of a form is a field of the question's name. */
const ofAnswer = ({ field, message }: ErrorDetail) =>
  [
    field.replace(/^metadata\./, 'field.'),
    message === 'required' ? 'Answer this question.' : about('The answer', message),
  ] as const;

const problems = (summary: string | undefined, fields: Record<string, string> = {}): Problems => ({
  status: 400,
  summary,
  fields,
  retryAfter: undefined,
});

const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

const later = (seconds: number) => `Too many attempts. Try again in ${waiting(seconds)}.`;

/** A waiting time in words. */
export function waiting(seconds: number): string {
  const [count, unit] =
    seconds < 90 ? [Math.max(1, Math.ceil(seconds)), 'second'] : [Math.ceil(seconds / 60), 'minute'];
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
