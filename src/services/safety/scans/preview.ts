import type { InlinePrimitives, PreviewRequest, ScanPreview } from '../../../../generated/safety/types.ts';
import type { Context } from '../../../http/context.ts';
import { DomainError, Invalid } from '../../../lib/errors.ts';
import { compile, type ProfileRules } from '../engine/index.ts';
import type { RuleKind } from '../limits.ts';
import { namesByKey } from '../matchers/app-rules.ts';
import type { Matchers, Rules } from '../matchers/matchers.ts';
import { checkRule } from '../rules/checks.ts';
import { contentsOf, weigh } from '../rules/contents.ts';
import type { Scanner } from './scanner.ts';

/** What all primitives of a preview may have together: few enough to be compiled while others wait. */
const mostInline = { keywords: 2_000, expressions: 32 };

const members = {
  instincts: 'instinct',
  awareness: 'awareness',
  boundaries: 'boundary',
  values: 'value',
  judgments: 'judgment',
  reflexes: 'reflex',
} as const satisfies Record<keyof InlinePrimitives, RuleKind>;

type Member = keyof typeof members;

/** Scans by the rules that a scan would have, and by primitives that are nowhere but in the request. */
export async function preview(
  { body }: { body: PreviewRequest },
  context: Context,
  { matchers, scanner }: { readonly matchers: Matchers; readonly scanner: Scanner },
): Promise<ScanPreview> {
  const { direction, primitives, ...request } = body;
  await check(primitives);
  const rules = await matchers.rulesFor(context, request.profile);
  return await scanner.preview(request, direction, context, withInline(rules, primitives));
}

/** @throws Invalid for a primitive that could not be created, naming its member */
async function check(primitives: Partial<InlinePrimitives>): Promise<void> {
  let keywords = 0;
  let expressions = 0;
  for (const [member, kind] of Object.entries(members) as [Member, RuleKind][])
    for (const [index, primitive] of (primitives[member] ?? []).entries()) {
      const inside = (error: unknown) => within(`primitives.${member}[${index}]`, error);
      const { name, ...rest } = primitive;
      const contents = contentsOf(kind, rest);
      keywords += contents.keywords;
      expressions += contents.expressions.length;
      if (keywords > mostInline.keywords)
        throw Invalid(`primitives: must have at most ${mostInline.keywords} keywords together`);
      if (expressions > mostInline.expressions)
        throw Invalid(`primitives: must have at most ${mostInline.expressions} regular expressions together`);
      try {
        checkRule(kind, rest);
        await weigh(contents);
      } catch (error) {
        throw inside(error);
      }
    }
}

const within = (field: string, error: unknown): unknown =>
  error instanceof DomainError ? Invalid(`${field}.${error.message}`, { cause: error }) : error;

function withInline(rules: Rules, given: Partial<InlinePrimitives>): Rules {
  const {
    instincts = [],
    awareness = [],
    boundaries = [],
    values = [],
    judgments = [],
    reflexes = [],
  } = given;
  if (Object.values(given).every((list) => list.length === 0)) return rules;
  const own = rules.rules;
  const all: ProfileRules = {
    ...own,
    instincts: [...own.instincts, ...instincts.map((primitive) => ({ primitive }))],
    awareness: [...own.awareness, ...awareness.map((primitive) => ({ primitive }))],
    boundaries: [...own.boundaries, ...boundaries],
    values: [...own.values, ...values.map((primitive) => ({ primitive }))],
    judgments: [...own.judgments, ...judgments.map((primitive) => ({ primitive }))],
    reflexes: [...own.reflexes, ...reflexes],
  };
  return { ...rules, rules: all, matcher: compile(all), isKeyed: namesByKey(all) };
}
