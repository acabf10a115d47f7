import { setImmediate as nextTurn } from 'node:timers/promises';
import type {
  AwarenessPrimitiveCreate,
  BoundaryCreate,
  JudgmentCreate,
  ReflexCreate,
  ValueCreate,
} from '../../../../generated/safety/types.ts';
import { monotonic } from '../../../db/clock.ts';
import { DomainError, Invalid } from '../../../lib/errors.ts';
import { checkRegex } from '../engine/index.ts';
import { LimitReached } from '../errors.ts';
import { limitNames, mostContents, type RuleKind, type Weight } from '../limits.ts';
import type { Body } from './references.ts';

/** A regular expression, and where it is. */
interface Expression {
  readonly field: string;
  readonly source: string;
}

interface Contents {
  readonly keywords: number;
  readonly expressions: readonly Expression[];
}

/** What of a rule counts against the limits of its app. */
export function contentsOf(kind: RuleKind, body: Body): Contents {
  switch (kind) {
    case 'awareness':
      return ofAwareness(body as unknown as AwarenessPrimitiveCreate);
    case 'boundary':
      return ofBoundary(body as unknown as BoundaryCreate);
    case 'value': {
      const { rules } = body as unknown as ValueCreate;
      return { keywords: sum(rules.map(({ keywords }) => keywords.length)), expressions: [] };
    }
    case 'judgment': {
      const { assessors } = body as unknown as JudgmentCreate;
      const words = assessors.flatMap(({ config }) => [
        ...(config.required ?? []),
        ...(config.forbidden ?? []),
      ]);
      return { keywords: words.length, expressions: [] };
    }
    case 'reflex': {
      const { triggers } = body as unknown as ReflexCreate;
      const expressions = triggers.flatMap(({ type, pattern }, index) =>
        type === 'on_pattern' && pattern !== undefined
          ? [{ field: `triggers[${index}].pattern`, source: pattern }]
          : [],
      );
      return { keywords: 0, expressions };
    }
    default:
      return { keywords: 0, expressions: [] };
  }
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);

function ofAwareness({ detectors }: AwarenessPrimitiveCreate): Contents {
  return {
    keywords: sum(detectors.map(({ keywords }) => keywords.length)),
    expressions: detectors.flatMap(({ patterns }, at) =>
      patterns.map((source, index) => ({ field: `detectors[${at}].patterns[${index}]`, source })),
    ),
  };
}

function ofBoundary({ limits }: BoundaryCreate): Contents {
  const words = limits.filter(({ match }) => match !== 'regex');
  return {
    keywords: sum(words.map(({ deny, allow }) => deny.length + allow.length)),
    expressions: limits.flatMap((limit, at) =>
      limit.match === 'regex'
        ? (['deny', 'allow'] as const).flatMap((list) =>
            limit[list].map((source, index) => ({ field: `limits[${at}].${list}[${index}]`, source })),
          )
        : [],
    ),
  };
}

/** Milliseconds of compiling after which other requests go on. */
const sliceMs = 4;

/**
 * Checks the expressions of a rule, and weighs it. Rules beyond the limits of a whole app are refused before any work.
 * @throws Invalid for an expression that is not valid, naming it
 */
export async function weigh(
  { keywords, expressions }: Contents,
  most: Pick<Weight, 'keywords' | 'expressions'> = mostContents,
): Promise<Weight> {
  if (keywords > most.keywords) throw LimitReached(most.keywords, limitNames.keywords);
  if (expressions.length > most.expressions) throw LimitReached(most.expressions, limitNames.expressions);
  let instructions = 0;
  let began = monotonic();
  for (const { field, source } of expressions) {
    instructions += sizeOf(source, field);
    if (monotonic() - began < sliceMs) continue;
    await nextTurn();
    began = monotonic();
  }
  return { keywords, expressions: expressions.length, instructions };
}

function sizeOf(source: string, field: string): number {
  try {
    return checkRegex(source).programSize;
  } catch (error) {
    if (error instanceof DomainError) throw Invalid(`${field}: ${error.message}`, { cause: error });
    throw error;
  }
}
