import type { Pace } from '../pace.ts';
import { Spans } from '../text/spans.ts';
import type { TextViews } from '../views/text-views.ts';
import { textOf } from '../views/view.ts';
import type { Expressions } from './expressions.ts';

/** Where the expressions of a matcher match: in the text as it was sent, and in its folded form where that differs. */
export class FoundExpressions {
  readonly #raw: ReadonlyMap<string, Spans>;
  readonly #folded: ReadonlyMap<string, Spans>;

  private constructor(raw: ReadonlyMap<string, Spans>, folded: ReadonlyMap<string, Spans>) {
    this.#raw = raw;
    this.#folded = folded;
  }

  static async of(expressions: Expressions, views: TextViews, pace: Pace): Promise<FoundExpressions> {
    if (expressions.sources.length === 0) return new FoundExpressions(new Map(), new Map());
    const raw = await expressions.find(views.text, pace);
    if (views.isAscii) return new FoundExpressions(raw, new Map());
    const folded = await expressions.find(textOf(views.folded), pace);
    for (const [source, spans] of folded) {
      const mapped = new Spans();
      for (const [start, end] of spans) mapped.add(...views.plain.spanOf(start, end));
      folded.set(source, mapped);
    }
    return new FoundExpressions(raw, folded);
  }

  /** The matches in the text as it was sent. */
  inText(source: string): Spans | undefined {
    return this.#raw.get(source);
  }

  /** The matches in either form: those of the folded one only if the text itself has none. */
  anywhere(source: string): Spans | undefined {
    return this.#raw.get(source) ?? this.#folded.get(source);
  }
}
