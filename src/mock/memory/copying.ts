/** Copies: a body names a source as `source_key`, where `key` is the member by which a path names it. */
import { collectionOf, type Item, type Resource } from '../contract/plans.ts';
import { linksTo } from '../contract/links.ts';
import type { Values } from '../contract/values.ts';
import { sentBy, settableBy, type Call } from './call.ts';
import { toldOf, type Content } from './contents.ts';
import type { StoredRecord } from './memory.ts';
import { isIn, type Step } from './steps.ts';

/** The values and content of a copy, if the body names a source. */
export interface Copy {
  readonly values: Values;
  readonly content: Content | undefined;
}

export function sourceOf(
  call: Call,
  resource: Resource,
  steps: readonly Step[],
): Copy | 'missing' | undefined {
  const sent = sentBy(call);
  for (const item of call.store.items) {
    const key = item.keys.find((name) => typeof sent[`source_${name}`] === 'string');
    if (key === undefined) continue;
    const below = placeOfSource(call, item, steps);
    const source =
      below &&
      call.store
        .records(item.resource)
        .find(
          (record) =>
            record.values[key] === sent[`source_${key}`] &&
            isIn(record, item.resource, collectionOf(item.path), below),
        );
    return source ? copied(call, resource, item, source) : 'missing';
  }
  return undefined;
}

/** Returns the records above the source: those that the body names, else those of the path. */
function placeOfSource({ store, ...call }: Call, item: Item, steps: readonly Step[]): Step[] | undefined {
  const sent = sentBy({ store, ...call });
  const found: Step[] = [];
  for (const step of steps.filter(({ item: above }) => item.path.startsWith(`${above.path}/`))) {
    const link = linksTo(item.resource, step.item).find((name) => typeof sent[`source_${name}`] === 'string');
    const wanted = link === undefined ? undefined : sent[`source_${link}`];
    const record =
      wanted === undefined
        ? step.record
        : store
            .records(step.item.resource)
            .find(({ values }) => step.item.keys.some((name) => values[name] === wanted));
    if (!record) return undefined;
    found.push({ item: step.item, record });
  }
  return found;
}

function copied(
  call: Call,
  resource: Resource,
  { resource: from }: Item,
  { values, content }: StoredRecord,
): Copy {
  const sent = Object.entries(sentBy(call)).filter(([, value]) => value !== null);
  const replaces = sent.some(([name, value]) => name.endsWith('_directive') && value === 'replace');
  const settable = settableBy(call);
  const kept = Object.entries(from === resource ? values : {}).filter(
    ([name]) => !replaces || !settable.has(name),
  );
  const told: Values = { ...Object.fromEntries(kept), ...Object.fromEntries(sent) };
  const { content_type: type = 'application/octet-stream' } = told;
  const now = call.now.toISOString();
  const made = content && { ...content, type: String(type), stored: replaces ? {} : content.stored };
  return {
    values: {
      ...(made && from !== resource ? toldOf(made) : {}),
      ...told,
      content_type: type,
      last_modified: now,
    },
    content: made,
  };
}
