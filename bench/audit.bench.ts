/** The audit log against the same rows without tamper evidence, and against the statements that one would write. */
import { append, long, single } from './audit/append.ts';
import { memory } from './audit/memory.ts';
import { counts, pages, verify } from './audit/reads.ts';
import type { Measurements } from './row.ts';

export default { append, long, single, verify, memory, pages, counts } satisfies Measurements;
