/** The content safety service: its engine and detectors against others, how well they find what they are for, and what recording costs. */
import type { Measurements } from './row.ts';
import { expressionLoop, personalData, secrets } from './safety/detectors.ts';
import { build, own, texts } from './safety/engine.ts';
import { quality } from './safety/quality.ts';
import { recording } from './safety/recording.ts';
import { statistics } from './safety/statistics.ts';

export default {
  ...{ texts, own, build, personalData, secrets, expressionLoop, quality, recording, statistics },
} satisfies Measurements;
