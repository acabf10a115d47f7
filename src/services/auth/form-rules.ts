import { LRUCache } from 'lru-cache';
import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { RE2JS } from 're2js';
import type { ErrorDetail, FormField } from '../../../generated/auth/types.ts';

/** Patterns run in linear time whatever they are; compiling them is what costs. */
const patterns = new LRUCache<string, RE2JS>({ max: 1_000 });

function compiled(pattern: string): RE2JS {
  const known = patterns.get(pattern) ?? RE2JS.compile(pattern);
  patterns.set(pattern, known);
  return known;
}

/** What is wrong with the questions of a form, as `<field>: <problem>`; undefined where nothing is. */
export function problemOfFields(fields: readonly FormField[]): string | undefined {
  const keys = new Set<string>();
  for (const [at, field] of fields.entries()) {
    const problem = problemOfField(field) ?? (keys.has(field.key) ? 'key: already in the form' : undefined);
    if (problem !== undefined) return `fields[${at}].${problem}`;
    keys.add(field.key);
  }
  return undefined;
}

function problemOfField({ type, options, validation }: FormField): string | undefined {
  const { min_len, max_len, pattern, min, max } = validation;
  if (min_len !== undefined && max_len !== undefined && min_len > max_len)
    return 'validation.max_len: must be at least min_len';
  if (min !== undefined && max !== undefined && min > max) return 'validation.max: must be at least min';
  if ((type === 'select' || type === 'radio') && options.length === 0) return 'options: must not be empty';
  if (new Set(options.map(({ value }) => value)).size < options.length)
    return 'options: must have different values';
  if (pattern !== undefined && !compiles(pattern)) return 'validation.pattern: must be an RE2 expression';
  return undefined;
}

function compiles(pattern: string): boolean {
  try {
    compiled(pattern);
    return true;
  } catch {
    return false;
  }
}

export interface Answers {
  /** What was given, with the answers to the questions trimmed. */
  readonly metadata: Record<string, unknown>;
  /** The first problem of each field, in the order in which the form asks. */
  readonly problems: readonly ErrorDetail[];
}

/** Holds what was given against the questions of a form. What the form does not ask for stays as it is. */
export function answersTo(fields: readonly FormField[], given: Record<string, unknown>): Answers {
  const metadata = { ...given };
  const problems: ErrorDetail[] = [];
  for (const field of fields.toSorted((a, b) => a.order - b.order)) {
    const value = Object.hasOwn(metadata, field.key) ? trimmed(metadata[field.key]) : undefined;
    if (value !== undefined) metadata[field.key] = value;
    const message = problemOfAnswer(field, value);
    if (message !== undefined) problems.push({ field: `metadata.${field.key}`, message });
  }
  return { metadata, problems };
}

const trimmed = (value: unknown) => (typeof value === 'string' ? value.trim() : value);

/** Required, lengths, pattern, type, bounds, options: the first that does not hold. */
function problemOfAnswer(field: FormField, value: unknown): string | undefined {
  const isEmpty = value === undefined || value === null || value === '';
  if (isEmpty || (field.type === 'checkbox' && value === false))
    return field.validation.required ? 'required' : undefined;
  if (field.type === 'checkbox' || field.type === 'switch')
    return typeof value === 'boolean' ? undefined : 'must be true or false';
  if (field.type === 'number') return problemOfNumber(field, value);
  return typeof value === 'string' ? problemOfText(field, value) : 'must be text';
}

function problemOfText({ type, options, validation }: FormField, value: string): string | undefined {
  const { min_len, max_len, pattern } = validation;
  const length = [...value].length;
  if (min_len !== undefined && length < min_len) return `must have at least ${min_len} characters`;
  if (max_len !== undefined && length > max_len) return `must have at most ${max_len} characters`;
  if (pattern !== undefined && !compiled(pattern).matches(value)) return `must match ${pattern}`;
  if ((type === 'select' || type === 'radio') && !options.some((option) => option.value === value))
    return 'must be one of the options';
  const form = textForms[type];
  return form === undefined || form.test(value) ? undefined : form.problem;
}

/** What a text of a type must be. */
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

/** A day that the calendar has, as ISO 8601 writes it. */
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
