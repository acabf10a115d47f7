import type { Model } from './engine/model.ts';
import type { Entry } from './model-entry.ts';

/** Bytes of an empty model: its tables have room for the first few thousand facts. */
const emptyModelBytes = 165_000;

/**
 * Keeps all models together within `memory` bytes. The least recently used models go first: full models as a whole, partial
 * ones slice by slice. Models that requests in progress use stay. A full model that has grown to more than twice the preload
 * limit goes too, and is reloaded as a partial model.
 */
export function makeRoom(
  entries: Map<string, Entry>,
  { memory, preloadFacts }: { memory: number; preloadFacts: number },
): void {
  let total = 0;
  for (const entry of entries.values()) {
    const { model } = entry;
    if (model?.mode === 'full' && model.factCount > 2 * preloadFacts) entry.model = undefined;
    total += sizeOf(entry.model);
  }
  if (total <= memory) return;
  for (const entry of [...entries.values()].sort((a, b) => a.usedAt - b.usedAt)) {
    if (total <= memory) return;
    total -= release(entry, total - memory);
    if (!entry.model && entry.users === 0) entries.delete(entry.tenant);
  }
}

/** Frees up to `bytes` bytes of an entry, or all it has. Returns how many were freed. */
function release(entry: Entry, bytes: number): number {
  const { model } = entry;
  if (!model || entry.users > 0) return 0;
  const before = sizeOf(model);
  if (model.mode === 'full' || bytes > model.bytes) entry.model = undefined;
  else model.evict(model.bytes - bytes);
  return before - sizeOf(entry.model);
}

const sizeOf = (model: Model | undefined) => (model ? emptyModelBytes + model.bytes : 0);
