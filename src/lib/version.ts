import { readFileSync } from 'node:fs';

/** The version of Plinth, which is that of the package. */
export const version = (
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }
).version;
