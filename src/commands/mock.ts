import { UsageError } from '../sentence.ts';

/**
 * Throws where the mock cannot answer. Its parts are loaded at the first request of a service, so without this check a production
 * install would start it and then fail each request.
 */
export function checkMockIsInstalled(): void {
  try {
    import.meta.resolve('@stoplight/prism-http');
  } catch {
    throw new UsageError(
      'The mock is for development and is not part of a production install: run `npm ci` without --omit=dev in a copy of the project, then `npm run mock`',
    );
  }
}
