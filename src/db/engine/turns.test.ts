import { expect, test } from 'vitest';
import { createTurns } from './turns.ts';

test('lines have their work done in turn, one piece at a time', async () => {
  const { run, idle } = createTurns(10, 'full');
  const done: string[] = [];
  let running = 0;
  const work = (name: string) => async () => {
    expect(++running).toBe(1);
    await Promise.resolve();
    done.push(name);
    running--;
  };
  for (const name of ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']) void run(name[0]!, work(name));
  await idle();
  expect(done).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
});

test('work that fails does not stop the others, and what is too much is refused', async () => {
  const { run, idle } = createTurns(2, 'full');
  const fails = run('a', () => Promise.reject(new Error('no')));
  const works = run('a', () => Promise.resolve(1));
  await Promise.all([
    expect(run('b', () => Promise.resolve(2))).rejects.toThrow('full'),
    expect(fails).rejects.toThrow('no'),
  ]);
  expect(await works).toBe(1);
  await idle();
  expect(await run('b', () => Promise.resolve(2))).toBe(2);
});
