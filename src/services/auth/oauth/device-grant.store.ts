import type { Sql } from '../../../db/index.ts';

/** How many wrong codes one network may try before it has to wait. */
const mostTries = 20;
const windowSeconds = 600;

/** The polling interval of a device, in seconds; each poll that comes too soon adds the same again. */
export const pollSeconds = 5;
const longestPollSeconds = 60;

/** Every statement about devices that wait for a user. */
export const deviceGrantStore = (sql: Sql) => ({
  /** Counts a try before it is made, so that concurrent tries respect the maximum. Returns false if there were too many. */
  async reserveTry(network: Buffer): Promise<boolean> {
    const { count } = await sql`
      insert into auth.device_tries (network, tries) values (${network}, 1)
      on conflict (network) do update
      set
        tries = case when ${isOver(sql)} then 1 else device_tries.tries + 1 end,
        since = case when ${isOver(sql)} then now() else device_tries.since end
      where ${isOver(sql)} or device_tries.tries < ${mostTries}`;
    return count > 0;
  },

  /** Gives a try back: the code was not wrong. */
  async giveBack(network: Buffer): Promise<void> {
    await sql`update auth.device_tries set tries = tries - 1 where network = ${network} and tries > 0`;
  },

  /** Seconds until the next try of the network is accepted. */
  async wait(network: Buffer): Promise<number> {
    const [found] = await sql<{ seconds: number }[]>`
      select ceil(${windowSeconds} - extract(epoch from now() - since))::int as seconds
      from auth.device_tries where network = ${network}`;
    return Math.max(1, found?.seconds ?? 1);
  },

  /** Whether the code exists, decided or not. */
  async isKnown(userCodeHash: Buffer): Promise<boolean> {
    const found = await sql`select from auth.oidc where user_code_hash = ${userCodeHash}`;
    return found.length > 0;
  },

  /** Records that a device polls; returns true if it polls too soon. One second of tolerance allows for network jitter. */
  async asksTooSoon(deviceCodeHash: Buffer): Promise<boolean> {
    const [asked] = await sql<{ soon: boolean }[]>`
      with before as (
        select id_hash, coalesce(poll_seconds, ${pollSeconds}) as seconds,
          coalesce(polled_at > now() - (coalesce(poll_seconds, ${pollSeconds}) - 1) * interval '1 second', false) as soon
        from auth.oidc
        where model = 'DeviceCode' and id_hash = ${deviceCodeHash}
        for update
      )
      update auth.oidc
      set polled_at = now(),
        poll_seconds = case
          when before.soon then least(before.seconds + ${pollSeconds}, ${longestPollSeconds}) else before.seconds end
      from before
      where oidc.model = 'DeviceCode' and oidc.id_hash = before.id_hash
      returning before.soon`;
    return asked?.soon ?? false;
  },

  /** Deletes expired counts of tries. Returns how many, at most `batch`. */
  async forget(batch: number): Promise<number> {
    const { count } = await sql`
      delete from auth.device_tries
      where network in (
        select network from auth.device_tries
        where since < now() - ${windowSeconds} * interval '1 second'
        limit ${batch}
      )`;
    return count;
  },
});

const isOver = (sql: Sql) => sql`device_tries.since <= now() - ${windowSeconds} * interval '1 second'`;
