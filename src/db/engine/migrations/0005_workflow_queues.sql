-- Runs of workflows whose code the platform has wait in queues of their own, which no outside worker can lease from.
update jobs.job set queue = 'plinth.' || queue
where queue like 'workflow.%'
  and exists (select from jobs.workflow where tenant_id = 'system' and source = 'code' and app_id = job.app_id and name = job.name)
  and not exists (select from jobs.workflow where tenant_id = job.tenant_id and source = 'http' and app_id = job.app_id and name = job.name);
