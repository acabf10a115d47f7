import { scoreOf, type Scored } from './awareness/topics.ts';
import { FoundExpressions } from './expressions/found.ts';
import { recognise, type Recognised } from './forms/index.ts';
import { turned } from './attacks/gate.ts';
import { withoutValues } from './decision/previews.ts';
import type { FoundKeywords } from './keywords/keywords.ts';
import { usualDetectors, type Matcher } from './matcher.ts';
import type { Pace } from './pace.ts';
import { attackRules, contentRules } from './rules/built-in.ts';
import { attackWeigher, contentWeigher } from './rules/context.ts';
import { windowsOf, type RuleHit } from './rules/rule-index.ts';
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
  #contents: Promise<RuleHit[][]> | undefined;
  readonly #scores = new Map<string, Scored>();
  #attacks: Promise<RuleHit[][]> | undefined;
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
            phoneRegions: this.#matcher.rules.phone_regions,
            pause: () => pace.restIfDue(),
          }));
  }

  /** Personal data and secrets of all kinds, for what must not be shown, even after the scan has taken too long. */
  async everythingHidden(pace: Pace): Promise<readonly Recognised[]> {
    const { text, input } = this;
    const wanted = this.#matcher.detectors[input.direction];
    if (usualDetectors.every((id) => wanted.has(id))) {
      const known = await this.#recognised?.catch(() => undefined);
      if (known !== undefined) return known;
    }
    return this.#everythingIn(text, pace);
  }

  /** A short text beside the scanned one, without the personal data and secrets in it. */
  async withoutValues(text: string): Promise<string> {
    return withoutValues(text, await this.#everythingIn(text, this.pace), this.pace);
  }

  #everythingIn(text: string, pace: Pace): Promise<Recognised[]> {
    return recognise({
      text,
      detectors: new Set([...usualDetectors, ...this.#matcher.detectors[this.input.direction]]),
      region: this.context.region,
      phoneRegions: this.#matcher.rules.phone_regions,
      pause: () => pace.restIfDue(),
    });
  }

  /** The built-in terms of values, topics and intents, by window. */
  contents(): Promise<RuleHit[][]> {
    return (this.#contents ??= this.#findContents());
  }

  /** The score of a group of built-in terms, such as `topic/drugs`. */
  async scoreOf(group: string): Promise<Scored> {
    let score = this.#scores.get(group);
    if (score === undefined) {
      await this.pace.restIfDue();
      this.#scores.set(group, (score = scoreOf(group, await this.contents())));
    }
    return score;
  }

  /** The built-in rules for attacks, in all forms of the text, by window. */
  attacks(): Promise<RuleHit[][]> {
    return (this.#attacks ??= this.#findAttacks());
  }

  /** The forms of the text in which attacks are hidden. */
  disguises(): Promise<Reading[]> {
    return (this.#disguises ??= this.views.disguises());
  }

  /** The keywords of the rules. */
  keywords(): Promise<FoundKeywords> {
    return (this.#keywords ??= this.#findKeywords());
  }

  /** The expressions of the rules. */
  expressions(): Promise<FoundExpressions> {
    return (this.#expressions ??= FoundExpressions.of(this.#matcher.expressions, this.views, this.pace));
  }

  /** Words are read as they are, and without digits and signs in place of letters. */
  async #readings(): Promise<Reading[]> {
    const leet = await this.views.leet();
    return leet === undefined ? [this.views.plain] : [this.views.plain, leet];
  }

  async #findKeywords(): Promise<FoundKeywords> {
    return this.#matcher.keywords.find(await this.#readings(), this.pace);
  }

  async #findContents(): Promise<RuleHit[][]> {
    return this.#find(contentRules, await this.#readings(), ({ view }) => contentWeigher(view));
  }

  async #findAttacks(): Promise<RuleHit[][]> {
    const readings = [
      this.views.plain,
      ...(await this.disguises()),
      ...(await turned(this.views, this.pace)),
    ];
    return this.#find(attackRules, readings, (reading) => attackWeigher(this.text, reading));
  }

  /** The rules that are found in some readings, by window. */
  async #find(
    rules: typeof attackRules,
    readings: readonly Reading[],
    weigherOf: (reading: Reading) => ReturnType<typeof contentWeigher>,
  ): Promise<RuleHit[][]> {
    const hits: RuleHit[] = [];
    for (const reading of readings) {
      for (const hit of await rules.find(reading, this.pace, weigherOf(reading))) hits.push(hit);
    }
    return windowsOf(hits, this.pace);
  }
}
