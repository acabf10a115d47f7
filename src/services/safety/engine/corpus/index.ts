/**
 * A labelled corpus for measuring the detectors: made-up texts with values whose places are known, and texts in which there is
 * nothing to find. The same seed makes the same texts.
 */
import { credentials } from './credentials.ts';
import { harmless } from './harmless.ts';
import { identities } from './identities.ts';
import { Random } from './random.ts';
import { aboutPeople, aboutSecrets, smallTalk } from './sentences.ts';

export interface Label {
  readonly type: string;
  readonly start: number;
  readonly end: number;
}

export interface Sample {
  readonly text: string;
  readonly labels: readonly Label[];
  /** The country of its national phone numbers. */
  readonly region: string | undefined;
}

export interface Corpus {
  readonly pii: readonly Sample[];
  readonly secrets: readonly Sample[];
  readonly benign: readonly Sample[];
}

/** Makes `each` texts for every kind of personal data and of secrets, and `each` times 50 harmless ones. */
export function corpus(seed: number, each: number): Corpus {
  const random = new Random(seed);
  return {
    pii: Object.keys(identities).flatMap((kind) => repeated(each, () => personal(kind, random))),
    secrets: Object.keys(credentials).flatMap((kind) => repeated(each, () => secret(kind, random))),
    benign: repeated(each * 50, () => ({ text: benignText(random), labels: [], region: 'US' })),
  };
}

const repeated = <Value>(count: number, make: () => Value): Value[] => Array.from({ length: count }, make);

function personal(kind: string, random: Random): Sample {
  const national = kind === 'national_phone';
  const type = `pii.${national ? 'phone' : kind}`;
  const text = filled(random.pick(aboutPeople[kind]!), identities[kind]!(random), type);
  return surrounded(text, national ? 'US' : undefined, random);
}

function secret(kind: string, random: Random): Sample {
  const value = credentials[kind]!(random);
  const text = filled(random.pick(aboutSecrets[kind]!), value, `secret.${kind}`);
  return surrounded(text, undefined, random);
}

function filled(sentence: string, value: string, type: string): Pick<Sample, 'text' | 'labels'> {
  const start = sentence.indexOf('{}');
  const text = sentence.slice(0, start) + value + sentence.slice(start + 2);
  return { text, labels: [{ type, start, end: start + value.length }] };
}

/** Puts other sentences before and behind the one with the value. */
function surrounded(
  { text, labels }: Pick<Sample, 'text' | 'labels'>,
  region: string | undefined,
  random: Random,
): Sample {
  const before = random.chance(0.5) ? `${random.pick(smallTalk)}${random.pick([' ', '\n', '\n\n'])}` : '';
  const after = random.chance(0.5) ? `${random.pick([' ', '\n'])}${random.pick(smallTalk)}` : '';
  const shift = before.length;
  return {
    text: before + text + after,
    labels: labels.map(({ type, start, end }) => ({ type, start: start + shift, end: end + shift })),
    region,
  };
}

function benignText(random: Random): string {
  const text = harmless(random);
  return random.chance(0.5) ? `${text}${random.pick([' ', '\n'])}${random.pick(smallTalk)}` : text;
}
