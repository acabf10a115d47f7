import type {
  AwarenessPrimitiveCreate,
  PolicyCreate,
  ReflexCreate,
} from '../../../../generated/safety/types.ts';
import { namesInCondition } from '../engine/index.ts';
import type { RuleKind } from '../limits.ts';
import type { Body } from './references.ts';

/** A rule by which findings have names: its own, and those of the types that it makes up. */
interface Naming {
  readonly kind: RuleKind;
  readonly name: string;
  readonly body: Body;
}

/** The names by which policies and reflexes can know the findings of a rule. */
export function namesOfFindings({ kind, name, body }: Naming): string[] {
  if (kind === 'profile' || kind === 'policy') return [];
  if (kind !== 'awareness') return [name];
  const { focus, detectors } = body as unknown as AwarenessPrimitiveCreate;
  const own = detectors.filter(({ keywords, patterns }) => keywords.length + patterns.length > 0);
  return [
    name,
    ...own.map(({ name }) => (focus === 'topic' && !name.startsWith('topic.') ? `topic.${name}` : name)),
  ];
}

/** The names of findings that a policy or a reflex asks for, apart from patterns that may mean several. */
export function namesAskedFor({ kind, body }: Omit<Naming, 'name'>): string[] {
  if (kind === 'policy')
    return (body as unknown as PolicyCreate).rules.flatMap(({ condition }) => namesInCondition(condition));
  if (kind !== 'reflex') return [];
  const { triggers, actions } = body as unknown as ReflexCreate;
  return [
    ...triggers.flatMap(({ type, pattern }) => (type === 'on_pattern' ? [] : [pattern])),
    ...actions.map(({ target }) => target),
  ].filter((name) => name !== undefined && !name.includes('*')) as string[];
}
