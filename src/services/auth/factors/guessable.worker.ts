/** The thread that measures passwords, so that its dictionaries and work do not burden the serving thread. */
import { parentPort } from 'node:worker_threads';
import { guessableBecause } from './guessable.ts';
import type { Answer, Question } from './password-strength.ts';

parentPort!.on('message', ({ id, password, known }: Question) => {
  const answer: Answer = { id, weakness: guessableBecause(password, known) };
  parentPort!.postMessage(answer);
});
