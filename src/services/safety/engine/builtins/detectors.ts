import type { Detector } from '../../../../../generated/safety/types.ts';
import { detectors as forms } from '../forms/index.ts';
import { groupsBelow } from '../rules/built-in.ts';

/** The score of one strong term of a topic, or of one phrase of an intent. */
const usualScore = 0.6;

const perceived = (focus: 'topic' | 'intent'): Detector[] =>
  groupsBelow(`${focus}/`).map((name) => ({
    id: `${focus}.${name}`,
    focus,
    description: `The ${focus} ${name.replaceAll('_', ' ')}`,
    base_score: usualScore,
    validator: null,
    context_words: [],
  }));

const whole = (id: string, focus: 'sentiment' | 'language', description: string): Detector => ({
  id,
  focus,
  description,
  base_score: usualScore,
  validator: null,
  context_words: [],
});

/** All built-in detectors, by id. */
export const detectorCatalogue: readonly Detector[] = [
  ...forms.map((form) => ({ ...form, context_words: [...form.context_words] })),
  ...perceived('topic'),
  ...perceived('intent'),
  whole('sentiment.negative', 'sentiment', 'An English text of negative sentiment'),
  whole('language.other', 'language', 'A language that is not allowed'),
].sort((a, b) => (a.id < b.id ? -1 : 1));
