import { setFlagsFromString } from 'node:v8';

/**
 * Lets buffers that nobody needs be collected with the young objects. Since Node.js 24 the young ones are only collected after 128 MiB of
 * buffers, but after 64 MiB the whole heap is (nodejs/node#61967): a server that carries content through did little else. This is the
 * setting of earlier versions; the collector reads it each time it allocates a buffer.
 */
export function collectBuffersEarly(): void {
  setFlagsFromString('--scavenger-max-new-space-capacity-mb=8');
}
