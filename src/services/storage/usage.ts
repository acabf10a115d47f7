import type { Author } from '../../db/write.ts';
import { currentRequestId } from '../../lib/request-scope.ts';
import type { Settings } from './settings.ts';

/** The quotas of tenants that have none of their own; 0 means no limit. */
export interface DefaultQuota {
  readonly quota_bytes: number;
  readonly quota_objects: number;
}

export const defaultQuota = ({
  tenantQuotaBytes,
  tenantQuotaObjects,
}: Pick<Settings, 'tenantQuotaBytes' | 'tenantQuotaObjects'>): DefaultQuota => ({
  quota_bytes: tenantQuotaBytes,
  quota_objects: tenantQuotaObjects,
});

/** Who writes, as the functions of the migrations take it. */
export const writer = ({ app, actor }: Author) => ({ app, actor, request_id: currentRequestId() });
