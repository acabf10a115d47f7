import { Conflict } from '../../../lib/errors.ts';

/** The most access keys of a tenant. */
export const mostCredentials = 100;

export const TooManyCredentials = () => Conflict(`limit reached: ${mostCredentials} access keys`);
