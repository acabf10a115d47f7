/** One small valid value of a schema, as its examples have it where they do. */
import { formsOf, type Schema } from './document.ts';
import type { Judge } from './judge.ts';
import { meaning } from './meaning.ts';
import { typesOf } from './reasons.ts';
import { texts } from './texts.ts';

/** Required members only. At the depth where recursion has to end, the last form is taken, which `null` usually is. */
export function sample(judge: Judge, reference: Schema, depth = 0): unknown {
  const text = meaning(reference);
  if (judge.samples.has(text)) return judge.samples.get(text);
  const value = find(judge, reference, depth);
  if (depth < 6) judge.samples.set(text, value);
  return value;
}

function find(judge: Judge, reference: Schema, depth: number): unknown {
  const schema = judge.resolve(reference);
  const made = depth > 12 ? null : make(judge, schema, depth);
  if (made !== undefined && judge.accepts(reference, made)) return made;
  const known = (schema.examples ?? []).find((example) => judge.accepts(reference, example));
  return known === undefined ? made : known;
}

function make(judge: Judge, schema: Schema, depth: number): unknown {
  if ('const' in schema) return schema.const;
  if (schema.enum) return schema.enum[0];
  const forms = formsOf(schema);
  if (forms) return sample(judge, forms.at(depth > 6 ? -1 : 0) ?? {}, depth + 1);
  const type = typesOf(schema)?.[0];
  if (type === 'object' || schema.properties) return smallest(judge, schema, depth);
  const [example] = schema.examples ?? [];
  if (type === 'array') {
    return Array.from({ length: schema.minItems ?? 0 }, () => sample(judge, schema.items ?? {}, depth + 1));
  }
  if (example !== undefined) return example;
  switch (type) {
    case 'string':
      return texts(schema, {}).find((text) => judge.accepts(schema, text)) ?? 'text';
    case 'integer':
    case 'number':
      return Math.max(schema.minimum ?? Math.min(1, schema.maximum ?? 1), (schema.exclusiveMinimum ?? 0) + 1);
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      return 'anything';
  }
}

function smallest(judge: Judge, schema: Schema, depth: number): Record<string, unknown> {
  const required = Object.entries(schema.properties ?? {}).filter(([name]) =>
    schema.required?.includes(name),
  );
  const members = Object.fromEntries(required.map(([name, part]) => [name, sample(judge, part, depth + 1)]));
  const missing = Math.max(0, (schema.minProperties ?? 0) - required.length);
  const free = Array.from({ length: missing }, (_, at) => [
    `member${at}`,
    sample(judge, schema.unevaluatedProperties ?? {}, depth + 1),
  ]);
  return { ...members, ...(Object.fromEntries(free) as Record<string, unknown>) };
}
