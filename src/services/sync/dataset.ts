import type { Context } from '../../http/context.ts';

/** All tables of one tenant and app: what nodes replicate. */
export interface Dataset {
  readonly tenant: string;
  readonly app: string;
}

export const datasetOf = ({ tenant, app }: Dataset): Dataset => ({ tenant, app });

/** One text for a data set, without spaces. */
export const nameOf = ({ tenant, app }: Dataset): string =>
  `${encodeURIComponent(tenant)}/${encodeURIComponent(app)}`;

/** Who uses a node id. */
export interface Subject {
  /** `<kind>:<id>`; the first one that uses an id owns it. */
  readonly owner: string;
  /** Whether it may use the ids of others and push their changes: relays and imports do. */
  readonly exempt: boolean;
  readonly actor: string;
  readonly requestId: string;
}

export const subjectOf = (context: Context): Subject => ({
  owner: ownerOf(context),
  exempt: context.operator || context.holds('sync:admin'),
  actor: context.actor,
  requestId: context.requestId,
});

function ownerOf({ userId, subjectId, credential }: Context): string {
  if (userId !== null) return `user:${userId}`;
  if (subjectId !== null) return `subject:${subjectId}`;
  return `${credential.kind}:${credential.id}`;
}
