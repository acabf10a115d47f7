import type { Context } from '../../http/context.ts';
import type { Deps } from './deps.ts';
import { Impersonated, NotFresh } from './errors.ts';

/** What decides who somebody is, is theirs alone: nobody changes it while acting as them. @throws Forbidden */
export function refuseImpersonated({ session }: Context): void {
  if (session !== null && session.impersonatedBy !== null) throw Impersonated();
}

/** A stolen session is to be of little use where a recent sign-in is asked for. @throws Forbidden */
export function requireFresh({ settings }: Pick<Deps, 'settings'>, { session }: Context): void {
  if (settings.fresh === 0 || session === null) return;
  if (Date.now() - Date.parse(session.authenticatedAt) > settings.fresh) throw NotFresh();
}
