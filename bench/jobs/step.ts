/** The cost that a step of a workflow adds to its work: the step has to be on disk before the next one begins. */
import { createEngine } from '../../src/db/engine/index.ts';
import { log } from '../place.ts';
import { atMostTimes, round, type Row } from '../row.ts';
import { sized } from '../scale.ts';
import { paired } from '../statistics.ts';
import { onServer } from './place.ts';

export function step(): AsyncIterable<Row> {
  return onServer('step of a workflow', '≤ 1.3 ×', async function* ({ db }) {
    const steps = sized(300, 30);
    await db.sql`create table bench (id integer primary key, output json)`;
    const engine = createEngine({ db, log });
    let finish: (milliseconds: number) => void = () => {};
    engine.workflow('steps', 1, async (_, ctx) => {
      const began = performance.now();
      for (let at = 0; at < steps; at++) await ctx.step(`s${at}`, () => at);
      finish((performance.now() - began) / steps);
    });
    await engine.start();
    const ofSteps = async () => {
      const ended = new Promise<number>((resolve) => (finish = resolve));
      await engine.startRun({ name: 'steps' });
      return ended;
    };
    let id = 0;
    const ofTransactions = async () => {
      const began = performance.now();
      for (let at = 0; at < steps; at++)
        await db.transaction((sql) => sql`insert into bench (id, output) values (${id++}, ${'1'}::json)`);
      return (performance.now() - began) / steps;
    };
    const { ratio, a, b } = await paired(ofSteps, ofTransactions, 5);
    await engine.stop(1_000);
    yield atMostTimes(ratio, 1.3, {
      path: 'step of a workflow',
      baseline: 'transaction with one row',
      measured: `${round(a)} ms against ${round(b)} ms`,
    });
  });
}
