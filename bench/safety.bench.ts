/** The detectors of the content safety service against others, and how well they find what they are for. */
import type { Measurements } from './row.ts';
import { expressionLoop, personalData, secrets } from './safety/detectors.ts';
import { quality } from './safety/quality.ts';

export default { personalData, secrets, expressionLoop, quality } satisfies Measurements;
