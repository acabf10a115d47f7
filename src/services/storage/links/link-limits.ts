import type { Context } from '../../../http/context.ts';
import type { ConditionHeaders } from '../content/conditions.ts';

/** The parameters of a link that limit what may be uploaded through it. */
export interface LimitingParameters {
  readonly store_max_bytes?: string | undefined;
  readonly store_if_none_match?: string | undefined;
}

/** What a link that was verified demands of an upload. The parameters mean nothing beside another credential. */
export function limitsOfLink(
  { store_max_bytes, store_if_none_match }: LimitingParameters,
  { credential }: Pick<Context, 'credential'>,
): { readonly most?: number; readonly condition?: ConditionHeaders } {
  if (credential.kind !== 'own') return {};
  return {
    ...(store_max_bytes !== undefined && { most: Number(store_max_bytes) }),
    ...(store_if_none_match !== undefined && { condition: { ifNoneMatch: store_if_none_match } }),
  };
}
