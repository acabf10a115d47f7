import type { CheckInput } from './types.ts';

/** What conditions can read: the question and the time of the decision. */
export interface Situation {
  readonly input: CheckInput;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Cost of the conditions so far, in units of `Request.spend`. */
  work: number;
  /** Whether a condition met a value too long to test, so that its result is unknown. */
  isTooLong: boolean;
}

export const situationOf = ({
  input,
  now,
}: {
  readonly input: CheckInput;
  readonly now: number;
}): Situation => ({ input, now, work: 0, isTooLong: false });

/** Reads one field; `undefined` when it is missing. */
export type Field = (situation: Situation) => unknown;

const mostSegments = 8;

/** Returns why a text cannot be a field, or undefined when it can. */
export function fieldProblem(text: string): string | undefined {
  if (text === '') return 'empty';
  if (text.length > 256) return 'longer than 256';
  const [first = '', ...rest] = text.split('.');
  const segments = rest.length + (scopes.has(first) && rest.length > 0 ? 0 : 1);
  if (segments > mostSegments) return `a path of more than ${mostSegments} names`;
  return undefined;
}

/** Compiles the field of a condition (section 5.7 of the page): fixed names first; everything else is in the context. */
export function compileField(text: string): Field {
  const fixed = fixedFields.get(text);
  if (fixed !== undefined) return fixed;
  const dot = text.indexOf('.');
  const scope = scopes.get(dot < 0 ? '' : text.slice(0, dot));
  if (scope === undefined) {
    const read = compilePath(text);
    return ({ input }) => read(input.context);
  }
  const rest = text.slice(dot + 1);
  const read = compilePath(
    scope.attributes && rest.startsWith('attributes.') ? rest.slice('attributes.'.length) : rest,
  );
  return ({ input }) => read(scope.of(input));
}

const iso = (milliseconds: number) => new Date(milliseconds).toISOString();

const fixedFields: ReadonlyMap<string, Field> = new Map<string, Field>([
  ['subject.kind', ({ input }) => input.subject_kind],
  ['subject.id', ({ input }) => input.subject_id],
  ['resource.type', ({ input }) => input.resource_type],
  ['resource.id', ({ input }) => (input.resource_id === '' ? undefined : input.resource_id)],
  ['action', ({ input }) => input.action],
  ['action.name', ({ input }) => input.action],
  ['now', ({ now }) => iso(now)],
  ['time', ({ input, now }) => own(input.context, 'time') ?? iso(now)],
]);

const scopes: ReadonlyMap<string, { attributes: boolean; of: (input: CheckInput) => unknown }> = new Map([
  ['subject', { attributes: true, of: (input: CheckInput): unknown => input.subject_attributes }],
  ['resource', { attributes: true, of: (input: CheckInput): unknown => input.resource_attributes }],
  ['action', { attributes: true, of: (input: CheckInput): unknown => input.action_attributes }],
  ['context', { attributes: false, of: (input: CheckInput): unknown => input.context }],
]);

/** Reads own members of objects only: a field called `constructor` is as missing as any other. Does not descend into arrays. */
function own(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, key))
    return undefined;
  return Reflect.get(value, key);
}

function compilePath(path: string): (root: unknown) => unknown {
  const segments = path.split('.');
  if (segments.length === 1) return (root) => own(root, path);
  // prefixes[i][k]: segments i … k joined. Each level takes the longest literal key that exists.
  const prefixes = segments.map((_, from) =>
    segments.map((_unused, to) => segments.slice(from, to + 1).join('.')),
  );
  return (root) => {
    let value = root;
    for (let from = 0; from < segments.length;) {
      let to = segments.length - 1;
      let next: unknown;
      for (; to >= from; to--) {
        next = own(value, prefixes[from]?.[to] ?? '');
        if (next !== undefined) break;
      }
      if (to < from) return undefined;
      value = next;
      from = to + 1;
    }
    return value;
  };
}
