import type { Detectors } from '../../../generated/safety/server.ts';
import type { Context } from '../../http/context.ts';
import { detectorCatalogue } from './engine/index.ts';

/** Detectors: the catalogue, which is part of the release. */
export const detectorHandlers = () =>
  ({
    list: ({ focus }) =>
      Promise.resolve(
        detectorCatalogue.filter((detector) => focus === undefined || detector.focus === focus),
      ),
  }) satisfies Detectors<Context>;
