import { setTimeout as delay } from 'node:timers/promises';

/** Resolves when a server answers at a path, whatever it says. */
export async function answers(port: number, path = '/'): Promise<void> {
  const asked = () =>
    fetch(`http://127.0.0.1:${port}${path}`).then(
      () => true,
      () => false,
    );
  while (!(await asked())) await delay(50);
}
