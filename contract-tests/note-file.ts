/** Runs before each test file: the coverage judges the services whose tests ran. */
import { expect } from 'vitest';
import { noteFile } from './records.ts';

noteFile(expect.getState().testPath ?? '');
