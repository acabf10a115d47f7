import type { AskedOrigin } from '../../http/service.ts';

/**
 * Which preflights are allowed: those of objects and parts. A preflight carries no credential and hence no tenant, so nothing is looked
 * up; the bucket decides who may read the response to the request itself.
 */
export const allowsPreflight =
  (basePath: string) =>
  (_origin: string, { path, preflight }: AskedOrigin): boolean =>
    preflight &&
    path.startsWith(`${basePath}/buckets/`) &&
    /^[^/]+\/(?:objects\/.|uploads\/[^/]+\/parts\/[^/]+$)/.test(path.slice(`${basePath}/buckets/`.length));
