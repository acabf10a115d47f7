/** The engine and the detectors of the content safety service against others, and how well the detectors find what they are for. */
import type { Measurements } from './row.ts';
import { expressionLoop, personalData, secrets } from './safety/detectors.ts';
import { build, own, texts } from './safety/engine.ts';
import { quality } from './safety/quality.ts';

export default { texts, own, build, personalData, secrets, expressionLoop, quality } satisfies Measurements;
