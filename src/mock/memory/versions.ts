import { documents, type Call } from './call.ts';
import { failedCondition, type Version } from './conditions.ts';
import type { StoredRecord } from './memory.ts';

/** Returns the current version of a record. Its tag is a member, or its version number in quotes. */
export function versionOf({ values }: Pick<StoredRecord, 'values'>): Version {
  const { etag, version, last_modified, updated_at } = values;
  const moment = last_modified ?? updated_at;
  return {
    etag: typeof etag === 'string' ? etag : typeof version === 'number' ? `"${version}"` : undefined,
    modified: typeof moment === 'string' ? new Date(moment) : undefined,
  };
}

/** Returns the documented status with which a failed condition about the record ends the request. */
export function conditionOf(call: Call, record: StoredRecord | undefined): 304 | 412 | undefined {
  const isRead = call.operation.verb === 'GET' || call.operation.verb === 'HEAD';
  const failed = failedCondition(call.request, record && versionOf(record), isRead);
  return failed !== undefined && documents(call, failed) ? failed : undefined;
}
