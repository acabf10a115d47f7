import type { Sql } from '../../sql.ts';
import { runLimits } from './limits.ts';

export interface NewSignal {
  readonly tenant_id: string;
  readonly run_id: string;
  readonly name: string;
  /** JSON text. */
  readonly payload: string;
  /** The sender's id, by which a second signal is ignored. */
  readonly dedup: string | null;
}

/** Every statement about the signals of a run. Call them while the run is locked. */
export const signalStore = (sql: Sql) => ({
  async isKnown({ tenant_id, run_id, dedup }: NewSignal): Promise<boolean> {
    const rows = await sql`
      select from jobs.signal where tenant_id = ${tenant_id} and run_id = ${run_id} and dedup_id = ${dedup}`;
    return rows.length > 0;
  },

  /** Stores a signal. Returns its number; undefined when the run has as many as it may have. */
  async insert({ tenant_id, run_id, name, payload, dedup }: NewSignal): Promise<number | undefined> {
    const [row] = await sql<{ seq: number }[]>`
      with counted as (
        update jobs.run set signal_count = signal_count + 1
        where tenant_id = ${tenant_id} and id = ${run_id} and signal_count < ${runLimits.signals}
        returning signal_count
      )
      insert into jobs.signal (tenant_id, run_id, seq, name, payload, dedup_id)
      select ${tenant_id}, ${run_id}, signal_count, ${name}, ${payload}::text::json, ${dedup} from counted
      returning seq`;
    return row?.seq;
  },

  /** Gives the signal to the step that has waited for one of its name for longest. Returns whether there was such a step. */
  async deliver({ tenant_id, run_id, name, payload }: NewSignal, seq: number): Promise<boolean> {
    const { count } = await sql`
      with waiting as (
        select step.name from jobs.step
        where tenant_id = ${tenant_id} and run_id = ${run_id} and state = 'waiting' and signal = ${name}
        order by seq limit 1
      ),
      received as (
        update jobs.step
        set state = 'completed', output = ${payload}::text::json, signal = null, wake_at = null, completed_at = statement_timestamp()
        from waiting where tenant_id = ${tenant_id} and run_id = ${run_id} and step.name = waiting.name
        returning step.name
      )
      update jobs.signal set step = received.name from received
      where tenant_id = ${tenant_id} and run_id = ${run_id} and seq = ${seq}`;
    return count > 0;
  },

  /** Takes the oldest signal of a name that no step has received, for a step. Returns its payload as JSON text. */
  async take(tenant: string, runId: string, name: string, step: string): Promise<string | undefined> {
    const [row] = await sql<{ payload: string }[]>`
      update jobs.signal set step = ${step}
      where tenant_id = ${tenant} and run_id = ${runId} and seq = (
        select seq from jobs.signal
        where tenant_id = ${tenant} and run_id = ${runId} and name = ${name} and step is null
        order by seq limit 1
      )
      returning payload::text as payload`;
    return row?.payload;
  },
});
