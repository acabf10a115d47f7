/** The sync service: merging against other ways to merge, and what pushes, pulls and streams cost. */
import type { Measurements } from './row.ts';
import { mergeInMemory } from './sync/merge.ts';
import { pull } from './sync/pull.ts';
import { joinedPushes, push } from './sync/push.ts';
import { streams } from './sync/streams.ts';

export default {
  ...{ mergeInMemory, push, joinedPushes, pull, streams },
} satisfies Measurements;
