/** The sync service: merging against other ways to merge, and what pushes, pulls and streams cost. */
import type { Measurements } from './row.ts';
import { large, largeSet } from './sync/large.ts';
import { mergeInMemory } from './sync/merge.ts';
import { pull } from './sync/pull.ts';
import { joinedPushes, push } from './sync/push.ts';
import { streams } from './sync/streams.ts';

export default {
  ...{ mergeInMemory, push, joinedPushes, pull, large, largeSet, streams },
} satisfies Measurements;
