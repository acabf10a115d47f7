import type { BucketUpdate } from '../../../../generated/storage/types.ts';
import { Invalid } from '../../../lib/errors.ts';

/** The settings of a bucket as a request gives them, without the members that it leaves as they are. */
export function newSettings(body: BucketUpdate): BucketUpdate {
  const {
    quota_bytes,
    quota_objects,
    max_object_bytes,
    allowed_content_types,
    cors_origins,
    events,
    metadata,
  } = body;
  const given = {
    ...{
      quota_bytes,
      quota_objects,
      max_object_bytes,
      allowed_content_types,
      cors_origins,
      events,
      metadata,
    },
  };
  for (const name of Object.keys(metadata ?? {}))
    if (name === '' || [...name].length > 64) throw Invalid('metadata: names must have 1 to 64 characters');
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}
