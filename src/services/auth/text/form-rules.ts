import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { problemOfShownText } from '../../../lib/shown-text.ts';
import type { ErrorDetail, FormField } from '../../../../generated/auth/types.ts';
import { costOfMatch, isWhole, sizeOfRegex } from '../../../lib/regexes.ts';

/** Limits for one form: the total instructions of its patterns, and the total cost of matching its answers. */
const mostInstructions = 2_000;
const mostMatching = 262_144;

/** Returns the problem with the questions of a form, as `<field>: <problem>`; undefined when there is none. */
export function problemOfFields(fields: readonly FormField[]): string | undefined {
  const keys = new Set<string>();
  let instructions = 0;
  for (const [at, field] of fields.entries()) {
    const problem = problemOfField(field) ?? (keys.has(field.key) ? 'key: already in the form' : undefined);
    if (problem !== undefined) return `fields[${at}].${problem}`;
    keys.add(field.key);
    const { pattern } = field.validation;
    instructions += pattern === undefined ? 0 : (sizeOfRegex(pattern) ?? 0);
    if (instructions > mostInstructions)
      return `fields[${at}].validation.pattern: the patterns of a form may have ${mostInstructions} instructions together`;
  }
  return undefined;
}

function problemOfField({ type, options, validation, ...shown }: FormField): string | undefined {
  const texts = { label: shown.label, placeholder: shown.placeholder, description: shown.description };
  for (const [name, text] of [
    ...Object.entries(texts),
    ...options.map(({ label }) => ['options', label] as const),
  ]) {
    const problem = problemOfShownText(text);
    if (problem !== undefined) return `${name}: ${problem}`;
  }
  const { min_len, max_len, pattern, min, max } = validation;
  if (min_len !== undefined && max_len !== undefined && min_len > max_len)
    return 'validation.max_len: must be at least min_len';
  if (min !== undefined && max !== undefined && min > max) return 'validation.max: must be at least min';
  if ((type === 'select' || type === 'radio') && options.length === 0) return 'options: must not be empty';
  if (new Set(options.map(({ value }) => value)).size < options.length)
    return 'options: must have different values';
  if (pattern !== undefined && sizeOfRegex(pattern) === undefined)
    return 'validation.pattern: must be an RE2 expression with a program of at most 1000 instructions';
  return undefined;
}

export interface Answers {
  /** The given metadata, with the answers to the questions trimmed. */
  readonly metadata: Record<string, unknown>;
  /** The first problem of each field, in the order of the form. */
  readonly problems: readonly ErrorDetail[];
}

/** Checks the metadata against the questions of a form. Members that the form does not ask for are unchanged. */
export function answersTo(fields: readonly FormField[], given: Record<string, unknown>): Answers {
  const metadata = { ...given };
  const problems: ErrorDetail[] = [];
  const matching = { left: mostMatching };
  for (const field of fields.toSorted((a, b) => a.order - b.order)) {
    const value = Object.hasOwn(metadata, field.key) ? trimmed(metadata[field.key]) : undefined;
    if (value !== undefined) metadata[field.key] = value;
    const message = problemOfAnswer(field, value, matching);
    if (message !== undefined) problems.push({ field: `metadata.${field.key}`, message });
  }
  return { metadata, problems };
}

const trimmed = (value: unknown) => (typeof value === 'string' ? value.trim() : value);

/** Returns the first violation of: required, lengths, pattern, type, bounds, options. */
function problemOfAnswer(field: FormField, value: unknown, matching: Matching): string | undefined {
  const isEmpty = value === undefined || value === null || value === '';
  if (isEmpty || (field.type === 'checkbox' && value === false))
    return field.validation.required ? 'required' : undefined;
  if (field.type === 'checkbox' || field.type === 'switch')
    return typeof value === 'boolean' ? undefined : 'must be true or false';
  if (field.type === 'number') return problemOfNumber(field, value);
  return typeof value === 'string' ? problemOfText(field, value, matching) : 'must be text';
}

function problemOfText(
  { type, options, validation }: FormField,
  value: string,
  matching: Matching,
): string | undefined {
  const { min_len, max_len, pattern } = validation;
  const length = [...value].length;
  if (min_len !== undefined && length < min_len) return `must have at least ${min_len} characters`;
  if (max_len !== undefined && length > max_len) return `must have at most ${max_len} characters`;
  const mismatch = pattern === undefined ? undefined : problemOfMatch(pattern, value, matching);
  if (mismatch !== undefined) return mismatch;
  if ((type === 'select' || type === 'radio') && !options.some((option) => option.value === value))
    return 'must be one of the options';
  const form = textForms[type];
  return form === undefined || form.test(value) ? undefined : form.problem;
}

/** The remaining budget for matching: a match cannot be interrupted, and the user who signs up chooses the texts. */
interface Matching {
  left: number;
}

/** A text that cannot be compared does not match. */
function problemOfMatch(pattern: string, value: string, matching: Matching): string | undefined {
  const size = sizeOfRegex(pattern);
  const cost = size === undefined ? undefined : costOfMatch(size, value);
  if (cost === undefined || cost > matching.left) return `is too long to be compared with ${pattern}`;
  matching.left -= cost;
  return isWhole(pattern, value, cost) ? undefined : `must match ${pattern}`;
}

/** The required form of a text, by field type. */
const textForms: Partial<Record<FormField['type'], { test(value: string): boolean; problem: string }>> = {
  email: {
    test: (value) => value.length <= 254 && /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$/.test(value),
    problem: 'must be an email address',
  },
  url: { test: (value) => /^https?:\/\//i.test(value) && URL.canParse(value), problem: 'must be a URL' },
  tel: {
    test: (value) => parsePhoneNumberFromString(value)?.isValid() === true,
    problem: 'must be a phone number with its country code',
  },
  date: { test: isDate, problem: 'must be a date like 2026-11-20' },
};

/** Whether the value is a valid calendar day in ISO 8601 format. */
function isDate(value: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(value)) return false;
  const time = Date.parse(`${value}T00:00:00.000Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(value);
}

function problemOfNumber({ validation }: FormField, value: unknown): string | undefined {
  const number = typeof value === 'string' ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isFinite(number)) return 'must be a number';
  if (validation.min !== undefined && number < validation.min) return `must be at least ${validation.min}`;
  if (validation.max !== undefined && number > validation.max) return `must be at most ${validation.max}`;
  return undefined;
}
