import type { Reading } from '../views/readings.ts';
import { textOf, type View } from '../views/view.ts';
import type { Rule } from './pack.ts';
import { isMention, mentionFactor } from './mentions.ts';
import { concernsAssistant, elsewhereFactor, isElsewhere, isNegated, mostUnaddressed } from './objects.ts';
import type { Weigher } from './rule-index.ts';
import { isAbout, subjectFactor } from './subjects.ts';
import { wordsAfter, wordsBefore } from './weights.ts';

const addressed = new Set(
  "you your yours yourself u ur youre you’re you're du dich dir dein deine deinen ihr euch sie ihre tú tu te ti usted ustedes vosotros eres toi tes ton vous votre vos ты тебя тебе вы вас".split(
    ' ',
  ),
);
const negations = new Set(
  "not no never n't don't dont didn't isn't aren't wasn't won't without nicht kein keine keinen nie niemals no nunca jamás ni sin ne pas jamais aucun не нет никогда".split(
    ' ',
  ),
);
const addressFactor = 1.15;
const negationFactor = 0.3;
const mostCertain = 0.99;
/** Characters of a place that are looked at, and of what follows it. */
const longestPlace = 400;
const longestAfter = 16;

/** Weighs the rules for attacks in a reading of a text: less where their object belongs to something else than the assistant. */
export const attackWeigher =
  (text: string, { view, encoding, isBounded, spanOf }: Reading): Weigher =>
  (rule, start, end) => {
    // Only the text as people see it has lines.
    if (rule.line && (encoding !== undefined || !beginsLine(text, spanOf(start, end)[0]))) return null;
    if (isExcepted(rule, view, start, end)) return null;
    if (isMention(view, start, end)) return rule.weight * mentionFactor;
    // Without bounds between words it is not known where the next begins.
    if (!isBounded) return rule.weight;
    if (rule.object && (isNegated(view, start) || isElsewhere(view, start, end)))
      return rule.weight * elsewhereFactor;
    if (rule.assistant && !concernsAssistant(view, start, end)) return Math.min(rule.weight, mostUnaddressed);
    return rule.weight;
  };

/** Weighs the terms of contents: more when somebody is addressed, less when they are negated. */
export const contentWeigher =
  (view: View): Weigher =>
  (rule, start, end) => {
    if (!rule.groups.some((group) => group.startsWith('value/'))) return rule.weight;
    return valueWeight(rule, view, start, end);
  };

function valueWeight(rule: Rule, view: View, start: number, end: number): number | null {
  const { weight, steps, about } = rule;
  if (isExcepted(rule, view, start, end) || isCompound(rule, view, end)) return null;
  if (wordsBefore(view, start, 3).some((word) => negations.has(word))) return weight * negationFactor;
  if (about.length > 0 && isAbout(about, view, start, end)) return weight * subjectFactor;
  // A phrase says itself whom it addresses.
  if (steps.length > 1) return weight;
  const near = [...wordsBefore(view, start, 5), ...wordsAfter(view, end, 5)];
  return near.some((word) => addressed.has(word)) ? Math.min(mostCertain, weight * addressFactor) : weight;
}

const compound = /^-(?!mak|build|produc)\p{L}/u;

/** Whether the last word of a phrase is only the first part of another, as in a bomb-shaped cake. */
const isCompound = ({ steps }: Rule, view: View, end: number): boolean =>
  steps.length > 1 && compound.test(textOf(view, end, Math.min(view.codes.length, end + longestAfter)));

function isExcepted({ unless, without }: Rule, view: View, start: number, end: number): boolean {
  if (unless.length === 0 && without.length === 0) return false;
  const last = Math.min(end, start + longestPlace);
  const place = textOf(view, start, last);
  if (without.some((sign) => place.includes(sign))) return true;
  const further = place + textOf(view, last, Math.min(view.codes.length, last + longestAfter));
  return unless.some((other) => further.includes(other));
}

/** Marks of headings, lists and quotations, and the most of them. */
const marks = new Set(' \t#*->`_=');
const mostMarks = 16;

/** Whether only marks stand between a position and the beginning of its line. */
function beginsLine(text: string, start: number): boolean {
  let at = start;
  while (at > 0 && start - at < mostMarks && marks.has(text[at - 1]!)) at--;
  return at === 0 || text[at - 1] === '\n' || text[at - 1] === '\r';
}
