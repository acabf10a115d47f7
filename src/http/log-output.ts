import { write, writeSync } from 'node:fs';
import type { DestinationStream } from 'pino';

/** Lines are written together: when there are this many characters, or this long after the first one. */
const charactersTogether = 4_096;
const longestHoldMs = 200;

/** The most characters that wait for a disk or a reader. Lines beyond them are lost. */
const mostWaiting = 2 ** 20;

const retryMs = 100;
/** How often the end of the process waits for a slow reader. */
const mostRetriesAtEnd = 10;

/**
 * Writes lines to a file descriptor. Its disk may be full, and its reader may be slow or gone: lines are then kept as far as there is
 * room and lost beyond it, because a server must not end, grow, or be unable to end on account of its log.
 */
export function logOutput(fd: number): DestinationStream {
  let waiting = '';
  let rest = Buffer.alloc(0);
  let state: 'idle' | 'writing' | 'retrying' | 'gone' = 'idle';
  let held: NodeJS.Timeout | undefined;

  function next(): void {
    clearTimeout(held);
    held = undefined;
    if (state !== 'idle' || waiting === '') return;
    rest = Buffer.from(waiting);
    waiting = '';
    attempt();
  }

  function attempt(): void {
    state = 'writing';
    write(fd, rest, (error, written) => {
      if (error?.code === 'EPIPE') {
        state = 'gone';
        waiting = '';
      } else if (error) {
        state = 'retrying';
        setTimeout(attempt, retryMs).unref();
      } else {
        rest = rest.subarray(written);
        if (rest.length > 0) return attempt();
        state = 'idle';
        if (waiting.length >= charactersTogether) next();
        else hold();
      }
    });
  }

  function hold(): void {
    if (waiting !== '') held ??= setTimeout(next, longestHoldMs).unref();
  }

  process.once('exit', () => {
    if (state !== 'gone')
      writeNow(fd, Buffer.concat([...(state === 'retrying' ? [rest] : []), Buffer.from(waiting)]));
  });

  return {
    write(line) {
      if (state === 'gone' || waiting.length + line.length > mostWaiting) return;
      waiting += line;
      if (waiting.length >= charactersTogether) next();
      else hold();
    },
  };
}

/** Writes what it can, and does not wait for a disk to be emptied. */
function writeNow(fd: number, bytes: Buffer): void {
  for (let retries = 0; bytes.length > 0 && retries <= mostRetriesAtEnd;) {
    try {
      bytes = bytes.subarray(writeSync(fd, bytes));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return;
      retries += 1;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, retryMs);
    }
  }
}
