import type { Limit } from '../../../../../generated/safety/types.ts';
import type { Facts } from '../facts.ts';
import { groupsBelow } from '../rules/built-in.ts';
import { compilePattern } from '../text/pattern.ts';
import { applies, type LayerRun } from './layer.ts';

/** A violation of a limit. `entry` is the topic, action, type or keyword that is not allowed. */
interface Violation {
  readonly entry: string;
  readonly span: readonly [start: number, end: number] | undefined;
  readonly isMasked?: boolean;
}

/** A topic is present from this score on, and a recognised value of some type. */
const leastTopic = 0.6;
const leastForm = 0.5;

/** Hard limits: one violation is enough, and always blocks. */
export const runBoundaries: LayerRun = async ({ rules, facts, progress }) => {
  for (const boundary of rules.boundaries) {
    if (!applies(boundary, facts)) continue;
    for (const limit of boundary.limits) {
      await facts.pace.restIfDue();
      const violation = await violationOf(limit, facts);
      if (violation === undefined) continue;
      const { entry, span, isMasked = false } = violation;
      progress.drafts.push({
        layer: 'boundary',
        source: boundary.name,
        type: `boundary.${limit.scope}`,
        severity: 'critical',
        score: 1,
        action: 'block',
        message: `${limit.scope} limit: ${entry}`.slice(0, 500),
        span,
        isMasked,
        details: {},
      });
      progress.replies.boundary.push(boundary.response);
    }
  }
};

async function violationOf(limit: Limit, facts: Facts): Promise<Violation | undefined> {
  switch (limit.scope) {
    case 'topic':
      return topicViolation(limit, facts);
    case 'action':
      return firstOutside(limit, facts);
    case 'data':
      return dataViolation(limit, facts);
    case 'output':
      return facts.input.direction === 'output' ? textViolation(limit, facts) : undefined;
    case 'custom':
      return textViolation(limit, facts);
  }
}

/** The first action that is denied, or not allowed. */
async function firstOutside({ deny, allow, use_allow }: Limit, facts: Facts): Promise<Violation | undefined> {
  const covers = (use_allow ? allow : deny).map(compilePattern);
  for (const entry of facts.context.actions) {
    if (covers.some((test) => test(entry)) !== use_allow)
      return { entry: await facts.withoutValues(entry), span: undefined };
    await facts.pace.restIfDue();
  }
  return undefined;
}

async function topicViolation(limit: Limit, facts: Facts): Promise<Violation | undefined> {
  const topics = groupsBelow('topic/');
  const scores = await Promise.all(
    topics.map(async (topic) => ({ topic, ...(await facts.scoreOf(`topic/${topic}`)) })),
  );
  const present = scores.filter(({ score }) => score >= leastTopic);
  if (limit.use_allow) {
    const outside = present.find(({ topic }) => !limit.allow.includes(topic));
    return outside && { entry: outside.topic, span: outside.span };
  }
  const denied = present.find(({ topic }) => limit.deny.includes(topic));
  if (denied !== undefined) return { entry: denied.topic, span: denied.span };
  // An entry that names no topic is a keyword.
  return firstPresent(
    limit,
    limit.deny.filter((entry) => !topics.includes(entry)),
    facts,
  );
}

async function dataViolation(
  { deny, allow, use_allow }: Limit,
  facts: Facts,
): Promise<Violation | undefined> {
  const covers = (use_allow ? allow : deny).map(compilePattern);
  const verdicts = new Map<string, boolean>();
  for (const { type, score, start, end } of await facts.recognised()) {
    if (score < leastForm) continue;
    let isViolation = verdicts.get(type);
    if (isViolation === undefined)
      verdicts.set(type, (isViolation = covers.some((test) => test(type)) !== use_allow));
    if (isViolation) return { entry: type, span: [start, end], isMasked: true };
  }
  return undefined;
}

/** A text violates `deny` by an entry that occurs, and `allow` when none of the entries occurs. */
async function textViolation(limit: Limit, facts: Facts): Promise<Violation | undefined> {
  if (!limit.use_allow) return firstPresent(limit, limit.deny, facts);
  const present = await firstPresent(limit, limit.allow, facts);
  return present === undefined ? { entry: 'nothing of what is allowed', span: undefined } : undefined;
}

async function firstPresent(
  { match }: Limit,
  entries: readonly string[],
  facts: Facts,
): Promise<Violation | undefined> {
  if (match === 'regex') {
    const found = await facts.expressions();
    for (const entry of entries) {
      const spans = found.anywhere(entry);
      if (spans !== undefined) return { entry, span: spans.at(0) };
    }
    return undefined;
  }
  const found = await facts.keywords();
  for (const entry of entries) {
    const spans = found(entry, match);
    if (spans !== undefined) return { entry, span: spans.at(0) };
  }
  return undefined;
}
