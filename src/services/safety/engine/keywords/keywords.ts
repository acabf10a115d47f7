import { Build } from '../build.ts';
import type { Pace } from '../pace.ts';
import { beginsWord, endsWord } from '../text/bounds.ts';
import { Spans } from '../text/spans.ts';
import type { Reading } from '../views/readings.ts';
import { Dictionary, numbersOf } from './dictionary.ts';

/** Where a keyword occurs in the text: as a whole word, and anywhere. */
export interface Occurrences {
  readonly whole: Spans;
  readonly anywhere: Spans;
}

/** The keywords of a matcher's rules. They are compiled when a scan first needs them. */
export class Keywords {
  readonly #dictionary = new Dictionary();
  readonly #numbers: Build<ReadonlyMap<string, number | undefined>>;

  constructor(keywords: Iterable<string>) {
    this.#numbers = new Build(() => numbersOf(keywords, this.#dictionary));
  }

  async find(readings: readonly Reading[], pace: Pace): Promise<FoundKeywords> {
    const numbers = await this.#numbers.result(pace);
    const found = new Map<number, Occurrences>();
    for (const reading of readings) {
      const { view } = reading;
      await this.#dictionary.find(view, pace, (term, start, end) => {
        let known = found.get(term);
        if (known === undefined)
          found.set(term, (known = { whole: new Spans(true), anywhere: new Spans(true) }));
        const [from, to] = reading.spanOf(start, end);
        known.anywhere.add(from, to);
        if (beginsWord(view, start) && endsWord(view, end)) known.whole.add(from, to);
      });
    }
    return (keyword, match) => {
      const occurrences = found.get(numbers.get(keyword) ?? -1);
      const spans = match === 'substring' ? occurrences?.anywhere : occurrences?.whole;
      return spans !== undefined && spans.count > 0 ? spans : undefined;
    };
  }
}

/** The places of a keyword; undefined when there are none. */
export type FoundKeywords = (keyword: string, match: 'word' | 'substring') => Spans | undefined;
