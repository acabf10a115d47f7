import type { Reading } from '../views/readings.ts';
import { textOf, type View } from '../views/view.ts';
import type { Rule } from './pack.ts';
import { isMention, mentionFactor } from './mentions.ts';
import type { Weigher } from './rule-index.ts';
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
/** Characters of a place that are looked at. */
const longestPlace = 400;

/** Weighs the rules for attacks in a reading of a text. */
export const attackWeigher =
  (text: string, { view, encoding, spanOf }: Reading): Weigher =>
  (rule, start, end) => {
    // Only the text as people see it has lines.
    if (rule.line && (encoding !== undefined || !beginsLine(text, spanOf(start, end)[0]))) return null;
    return rule.weight * (isMention(view, start, end) ? mentionFactor : 1);
  };

/** Weighs the terms of contents: more when somebody is addressed, less when they are negated. */
export const contentWeigher =
  (view: View): Weigher =>
  (rule, start, end) => {
    if (!rule.groups.some((group) => group.startsWith('value/'))) return rule.weight;
    return valueWeight(rule, view, start, end);
  };

function valueWeight({ weight, steps, unless }: Rule, view: View, start: number, end: number): number | null {
  if (unless.length > 0) {
    const place = textOf(view, start, Math.min(end, start + longestPlace));
    if (unless.some((other) => place.includes(other))) return null;
  }
  if (wordsBefore(view, start, 3).some((word) => negations.has(word))) return weight * negationFactor;
  // A phrase says itself whom it addresses.
  if (steps.length > 1) return weight;
  const near = [...wordsBefore(view, start, 5), ...wordsAfter(view, end, 5)];
  return near.some((word) => addressed.has(word)) ? Math.min(mostCertain, weight * addressFactor) : weight;
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
