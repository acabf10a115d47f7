import { FoundExpressions } from './expressions/found.ts';
import { detectors, recognise, type Recognised } from './forms/index.ts';
import { turned } from './attacks/gate.ts';
import type { FoundKeywords } from './keywords/keywords.ts';
import type { Matcher } from './matcher.ts';
import type { Pace } from './pace.ts';
import { attackRules, contentRules } from './rules/built-in.ts';
import { attackWeigher, contentWeigher } from './rules/context.ts';
import type { RuleHit } from './rules/rule-index.ts';
import type { ScanContext } from './scan-context.ts';
import type { ScanInput } from './types.ts';
import type { Reading } from './views/readings.ts';
import { TextViews } from './views/text-views.ts';

/** What the layers want to know of a text. Each fact is found once, when the first layer asks. */
export class Facts {
  readonly views: TextViews;
  readonly input: ScanInput;
  readonly context: ScanContext;
  readonly pace: Pace;
  readonly #matcher: Matcher;
  #recognised: Promise<Recognised[]> | undefined;
  #contents: Promise<RuleHit[]> | undefined;
  #attacks: Promise<RuleHit[]> | undefined;
  #keywords: Promise<FoundKeywords> | undefined;
  #expressions: Promise<FoundExpressions> | undefined;
  #disguises: Promise<Reading[]> | undefined;

  constructor(matcher: Matcher, input: ScanInput, context: ScanContext, views: TextViews, pace: Pace) {
    this.#matcher = matcher;
    this.input = input;
    this.context = context;
    this.views = views;
    this.pace = pace;
  }

  get text(): string {
    return this.input.text;
  }

  /** Personal data and secrets that any rule of this direction asks for. */
  recognised(): Promise<Recognised[]> {
    const { pace, text, input, context } = this;
    const wanted = this.#matcher.detectors[input.direction];
    return (this.#recognised ??=
      wanted.size === 0
        ? Promise.resolve([])
        : recognise({
            text,
            detectors: wanted,
            region: context.region,
            pause: async () => {
              if (pace.isDue) await pace.rest();
            },
          }));
  }

  /** The built-in terms of values, topics and intents. */
  contents(): Promise<RuleHit[]> {
    return (this.#contents ??= this.#find(contentRules, [this.views.plain, this.views.leet], ({ view }) =>
      contentWeigher(view),
    ));
  }

  /** The built-in rules for attacks, in all forms of the text. */
  attacks(): Promise<RuleHit[]> {
    return (this.#attacks ??= this.#findAttacks());
  }

  /** The forms of the text in which attacks are hidden. */
  disguises(): Promise<Reading[]> {
    return (this.#disguises ??= this.views.disguises());
  }

  /** The keywords of the rules. */
  keywords(): Promise<FoundKeywords> {
    const { plain, leet } = this.views;
    return (this.#keywords ??= this.#matcher.keywords.find(
      [plain, leet].filter((reading) => reading !== undefined),
      this.pace,
    ));
  }

  /** The expressions of the rules. */
  expressions(): Promise<FoundExpressions> {
    return (this.#expressions ??= FoundExpressions.of(this.#matcher.expressions, this.views, this.pace));
  }

  async #findAttacks(): Promise<RuleHit[]> {
    const readings = [
      this.views.plain,
      ...(await this.disguises()),
      ...(await turned(this.views, this.pace)),
    ];
    return this.#find(attackRules, readings, (reading) => attackWeigher(this.text, reading));
  }

  /** The rules that are found in some readings; of each rule the place where it counts the most. */
  async #find(
    rules: typeof attackRules,
    readings: readonly (Reading | undefined)[],
    weigherOf: (reading: Reading) => ReturnType<typeof contentWeigher>,
  ): Promise<RuleHit[]> {
    const best = new Map<string, RuleHit>();
    for (const reading of readings) {
      if (reading === undefined) continue;
      for (const hit of await rules.find(reading, this.pace, weigherOf(reading))) {
        const known = best.get(hit.rule.id);
        if (known === undefined || known.weight < hit.weight) best.set(hit.rule.id, hit);
      }
    }
    return [...best.values()];
  }
}

export const allDetectors: ReadonlySet<string> = new Set(detectors.map(({ id }) => id));
