import type { Event, Written } from '../db/outbox.ts';

/** The event as receivers see it: CloudEvents 1.0 in JSON. */
export const cloudEvent = ({
  id,
  time,
  source,
  type,
  subject,
  tenant,
  app,
  actor,
  data,
}: Event & Written) => ({
  specversion: '1.0',
  id,
  source,
  type,
  subject,
  time,
  datacontenttype: 'application/json',
  tenantid: tenant,
  appid: app,
  actor,
  data,
});
