import { ZxcvbnFactory } from '@zxcvbn-ts/core';
import { adjacencyGraphs, dictionary as commonWords } from '@zxcvbn-ts/language-common';
import { dictionary as englishWords } from '@zxcvbn-ts/language-en';

/**
 * Bounds on the characters that are measured and on how often a digit or sign may be read as the letter it resembles: the time
 * grows with the square of both. A password that is weak within this many characters is repetitive.
 */
const measuredCharacters = 32;
const mostSubstitutions = 16;

/** A million guesses find passwords with lower scores, and throttling does not prevent so few. */
const leastScore = 2;

const estimator = new ZxcvbnFactory({
  dictionary: { ...commonWords, ...englishWords },
  graphs: adjacencyGraphs,
  maxLength: measuredCharacters,
  l33tMaxSubstitutions: mostSubstitutions,
});

/** The problem with a password, by the estimator's warning. */
const reasons: Readonly<Record<string, string>> = {
  straightRow: 'is a row of the keyboard',
  keyPattern: 'is a pattern on the keyboard',
  simpleRepeat: 'repeats itself',
  extendedRepeat: 'repeats itself',
  sequences: 'is a sequence',
  recentYears: 'is a year or a date',
  dates: 'is a year or a date',
  topTen: 'is too common',
  topHundred: 'is too common',
  common: 'is too common',
  similarToCommon: 'is too common',
  namesByThemselves: 'is a name',
  commonNames: 'is a name',
  userInputs: 'is close to the email, the name or the app',
};

/**
 * Why few guesses find the password for an attacker who knows the words `known`; undefined when it takes many. This takes about
 * 10 ms, or three times that for crafted input, so a serving process runs it in a separate thread.
 */
export function guessableBecause(password: string, known: readonly string[]): string | undefined {
  const { score, feedback } = estimator.check(password, [...known]);
  if (score >= leastScore) return undefined;
  return reasons[feedback.warning ?? ''] ?? 'is too easy to guess';
}
