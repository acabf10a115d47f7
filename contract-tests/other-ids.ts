/** Ids in the examples that no example defines, and what they stand for. */
export const otherIds: Readonly<Record<string, string>> = {
  evt_01m7w6qgeqfq9s8vcv2enpf2xs: 'auth: what its webhooks tell is no resource there',
  role_01m7w4n5e0ew4spajdpe9q9ptk: 'authz: the parent of the role',
  plan_01kepmx140fr4t7m82d2z5m4nf: 'billing: the plan that a subscription changes to',
  rel_01h455vb4pex5vsknk084sn02s: 'control: the release before the one that is shown',
  dlq_01h456c9k2f5tvsknk084sn0ab: 'jobs, webhooks: the dead letter that is not found',
  job_01h455vb4qex5vsknk084sn02r: 'jobs: the job that works on the run',
  job_01m7w57fc0ex5vsknk084sn06e: 'jobs: the job that works on the run once it is retried',
  evt_01m7w7zbw0ex5vsknk084sn03b: 'webhooks: the event that tries an endpoint out',
};
