import type {
  AwarenessPrimitiveCreate,
  BoundaryCreate,
  Direction,
  InstinctCreate,
  JudgmentCreate,
  Layer,
  ReflexCreate,
  ValueCreate,
} from '../../../../generated/safety/types.ts';
import { Expressions } from './expressions/expressions.ts';
import { detectors, onlyWhenNamed } from './forms/index.ts';
import { Keywords } from './keywords/keywords.ts';
import { compilePattern } from './text/pattern.ts';
import type { AwarenessRule, InstinctRule, JudgmentRule, ProfileRules, ValueUse } from './types.ts';

/** The rules of one profile, compiled. */
export interface Matcher {
  readonly revision: number;
  /** About the size of the programs of all tenant expressions together. */
  readonly programSize: number;
  /** The enabled rules, in the order in which they run. */
  readonly rules: ProfileRules;
  /** The disabled ones, as `skipped` names them. */
  readonly disabled: Readonly<Record<Direction, readonly string[]>>;
  readonly keywords: Keywords;
  readonly expressions: Expressions;
  /** The detectors of personal data and secrets that some rule asks for. */
  readonly detectors: Readonly<Record<Direction, ReadonlySet<string>>>;
}

/** Compiles rules. What takes long, the automatons of keywords and expressions, is made in slices by the first scan. */
export function compile(profile: ProfileRules): Matcher {
  const rules = enabledRules(profile);
  const expressions = new Expressions(expressionsOf(rules));
  return {
    revision: rules.revision,
    programSize: expressions.programSize,
    rules,
    disabled: { input: disabledIn(profile, 'input'), output: disabledIn(profile, 'output') },
    keywords: new Keywords([...keywordsOf(rules)]),
    expressions,
    detectors: { input: detectorsOf(rules, 'input'), output: detectorsOf(rules, 'output') },
  };
}

type Primitive =
  InstinctCreate | AwarenessPrimitiveCreate | BoundaryCreate | ValueCreate | JudgmentCreate | ReflexCreate;

function enabledRules(profile: ProfileRules): ProfileRules {
  const uses = <Use extends InstinctRule | AwarenessRule | ValueUse | JudgmentRule>(list: readonly Use[]) =>
    list.filter(({ primitive }) => primitive.enabled).sort((a, b) => byName(a.primitive, b.primitive));
  return {
    ...profile,
    instincts: uses(profile.instincts),
    awareness: uses(profile.awareness),
    boundaries: profile.boundaries.filter(({ enabled }) => enabled).sort(byName),
    values: uses(profile.values),
    judgments: uses(profile.judgments),
    reflexes: profile.reflexes
      .filter(({ enabled }) => enabled)
      .sort((a, b) => a.priority - b.priority || byName(a, b)),
  };
}

/** The primitives that would run in a direction if they were enabled. */
function disabledIn(profile: ProfileRules, direction: Direction): string[] {
  const parts: readonly (readonly [layer: Layer, primitives: readonly Primitive[]])[] = [
    ['instinct', profile.instincts.map(({ primitive }) => primitive)],
    ['awareness', profile.awareness.map(({ primitive }) => primitive)],
    ['boundary', profile.boundaries],
    ['value', profile.values.map(({ primitive }) => primitive)],
    ['judgment', profile.judgments.map(({ primitive }) => primitive)],
    ['reflex', profile.reflexes],
  ];
  return parts.flatMap(([layer, primitives]) =>
    primitives
      .filter(({ enabled, directions }) => !enabled && directions.includes(direction))
      .map(({ name }) => `${layer}/${name}: disabled`),
  );
}

const byName = (a: Primitive, b: Primitive) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);

function* keywordsOf({ awareness, boundaries, values, judgments }: ProfileRules): Iterable<string> {
  for (const { primitive } of awareness) for (const { keywords } of primitive.detectors) yield* keywords;
  for (const { limits } of boundaries)
    for (const { scope, match, deny, allow, use_allow } of limits)
      if (match !== 'regex' && scope !== 'action' && scope !== 'data') yield* use_allow ? allow : deny;
  for (const { primitive } of values) for (const { keywords } of primitive.rules) yield* keywords;
  for (const { primitive } of judgments)
    for (const { config } of primitive.assessors) {
      yield* config.required ?? [];
      yield* config.forbidden ?? [];
    }
}

function expressionsOf({ awareness, boundaries, reflexes }: ProfileRules): string[] {
  return [
    ...awareness.flatMap(({ primitive }) => primitive.detectors.flatMap(({ patterns }) => patterns)),
    ...boundaries.flatMap(({ limits }) =>
      limits.flatMap(({ scope, match, deny, allow, use_allow }) =>
        match === 'regex' && scope !== 'action' && scope !== 'data' ? (use_allow ? allow : deny) : [],
      ),
    ),
    ...reflexes.flatMap(({ triggers }) =>
      triggers.flatMap(({ type, pattern }) =>
        type === 'on_pattern' && pattern !== undefined ? [pattern] : [],
      ),
    ),
  ];
}

/** The detectors that run when a rule names none. */
export const usualDetectors = detectors.map(({ id }) => id).filter((id) => !onlyWhenNamed.has(id));

function detectorsOf(rules: ProfileRules, direction: Direction): ReadonlySet<string> {
  const wanted = new Set<string>();
  const add = (ids: Iterable<string>) => {
    for (const id of ids) wanted.add(id);
  };
  const applies = ({ directions }: Primitive) => directions.includes(direction);
  for (const { primitive } of rules.awareness) if (applies(primitive)) add(namedDetectors(primitive));
  for (const boundary of rules.boundaries)
    if (applies(boundary))
      for (const { scope, deny, use_allow } of boundary.limits)
        if (scope === 'data') {
          const covers = deny.map(compilePattern);
          add(usualDetectors.filter((id) => use_allow || covers.some((test) => test(id))));
        }
  for (const { primitive } of rules.values)
    if (applies(primitive) && primitive.rules.some(({ principle }) => principle === 'privacy'))
      add(usualDetectors.filter((id) => id.startsWith('pii.')));
  return wanted;
}

/** The built-in detectors of personal data or secrets that an awareness uses. */
export function namedDetectors({ focus, detectors: own }: AwarenessPrimitiveCreate): readonly string[] {
  if (focus !== 'pii' && focus !== 'secrets') return [];
  const prefix = focus === 'pii' ? 'pii.' : 'secret.';
  if (own.length === 0) return usualDetectors.filter((id) => id.startsWith(prefix));
  return own.map(({ name }) => name).filter((name) => detectors.some(({ id }) => id === name));
}
