/** The engine of `safety` alone: no server, no database. */
import {
  builtins,
  compile,
  scan,
  type Matcher,
  type ProfileRules,
} from '../../src/services/safety/engine/index.ts';
import { attackRules, contentRules } from '../../src/services/safety/engine/rules/built-in.ts';
import { atLeast, atMost, atMostTimes, round, type Row } from '../row.ts';
import { sized } from '../scale.ts';
import { latencies, median, paired, quantile, timed } from '../statistics.ts';

const sentence =
  'Please review the attached report and tell me whether the figures of the last quarter are right. ';
const english = (length: number) => sentence.repeat(Math.ceil(length / sentence.length)).slice(0, length);

const inputOf = (text: string, pause: () => Promise<void>) => ({
  text,
  direction: 'input' as const,
  context: {},
  metadata: {},
  userId: '',
  policies: [],
  vault: { tokenOf: () => '0123456789' },
  hash: () => '0123456789ab',
  pause,
  endsAt: Infinity,
});

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));
const scanned = (matcher: Matcher, text: string) => scan(matcher, inputOf(text, nextTurn));

const usual = compile(builtins.rulesOf('default')!);

/** The built-in rules as expressions of the JavaScript engine, one after the other. */
const loop = [...attackRules.rules, ...contentRules.rules].map(({ steps, gaps }) => {
  const words = steps.map(
    (terms) =>
      `\\b(?:${terms.map((term) => term.replace(/\*$/, '').replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|')})`,
  );
  const joined = words.reduce((all, word, step) => `${all}[^]{0,${gaps[step - 1]}}${word}`);
  return new RegExp(joined, 'i');
});

export async function* texts(): AsyncIterable<Row> {
  const short = english(1_024);
  const calls = sized(2_000, 50);
  const times = await latencies(calls, () => scanned(usual, short));
  const { ratio, a, b } = await paired(
    async () =>
      median(await latencies(calls, () => loop.filter((expression) => expression.test(short)).length)),
    async () => median(await latencies(calls, () => scanned(usual, short))),
  );
  yield atLeast(ratio, 3, {
    path: 'engine, 1 KB of English, profile default',
    baseline: 'its rules for words as a loop of expressions',
    measured: `${round(b)} ms against ${round(a)} ms`,
  });
  yield atMost(median(times), 0.15, { path: 'engine, 1 KB of English, p50', unit: 'ms' });
  yield atMost(quantile(times, 0.99), 1, { path: 'engine, 1 KB of English, p99', unit: 'ms' });
  for (const [length, most] of [
    [65_536, 8],
    [524_288, 64],
  ] as const) {
    const text = english(length);
    let longest = 0;
    let resumed = performance.now();
    const pause = async () => {
      longest = Math.max(longest, performance.now() - resumed);
      await nextTurn();
      resumed = performance.now();
    };
    await scanned(usual, text);
    const took = await latencies(sized(20, 2), async () => {
      resumed = performance.now();
      await scan(usual, inputOf(text, pause));
    });
    const path = `engine, ${round(length / 1_024)} KB of English`;
    yield atMost(median(took), most, { path, unit: 'ms' });
    yield atMost(longest, 10, { path: `${path}, longest hold of the event loop`, unit: 'ms' });
  }
}

const described = { description: '', enabled: true, directions: ['input' as const], metadata: {} };

/** The default profile with keywords and expressions of the app. */
function withOwn(keywords: readonly string[], patterns: readonly string[]): ProfileRules {
  const profile = builtins.rulesOf('default')!;
  const detectors = Math.max(Math.ceil(keywords.length / 500), Math.ceil(patterns.length / 32));
  const own = {
    ...described,
    name: 'own',
    focus: 'custom' as const,
    detectors: Array.from({ length: detectors }, (_, index) => ({
      name: `own-${index}`,
      keywords: keywords.slice(index * 500, index * 500 + 500),
      patterns: patterns.slice(index * 32, index * 32 + 32),
      match: 'word' as const,
      config: {},
    })),
    threshold: 0.5,
    action: 'flag' as const,
    redaction: null,
    allow_list: [],
  };
  return { ...profile, awareness: [...profile.awareness, { primitive: own }] };
}

const keywords = Array.from({ length: 20_000 }, (_, n) => `project ${n.toString(36)} falcon`);
const patterns = Array.from({ length: 500 }, (_, n) => `\\bEMP${n}-[0-9]{6}\\b`);

export async function* own(): AsyncIterable<Row> {
  const text = english(16_384);
  const calls = sized(100, 5);
  const time = (matcher: Matcher) => async () => median(await latencies(calls, () => scanned(matcher, text)));
  const many = compile(withOwn(keywords, []));
  const one = compile(withOwn(keywords.slice(0, 1), []));
  const words = await paired(time(many), time(one));
  yield atMostTimes(words.ratio, 1.3, {
    path: '16 KB, 20,000 keywords',
    baseline: '1 keyword',
    measured: `${round(words.a)} ms against ${round(words.b)} ms`,
  });
  const expressions = await paired(
    time(compile(withOwn([], patterns))),
    time(compile(withOwn([], patterns.slice(0, 1)))),
  );
  yield atMostTimes(expressions.ratio, 2, {
    path: '16 KB, 500 expressions, none of which matches',
    baseline: '1 expression',
    measured: `${round(expressions.a)} ms against ${round(expressions.b)} ms`,
  });
}

/** The automaton of the keywords is built by the first scan. */
export async function* build(): AsyncIterable<Row> {
  const times: number[] = [];
  for (let round = 0; round < sized(5, 1); round++)
    times.push(await timed(() => scanned(compile(withOwn(keywords, [])), 'a')));
  yield atMost(median(times), 150, { path: 'matcher with 20,000 keywords, built', unit: 'ms' });
}
