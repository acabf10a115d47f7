import type { Detectors } from '../../../generated/safety/server.ts';
import type { Detector } from '../../../generated/safety/types.ts';
import type { Context } from '../../http/context.ts';
import { detectors as forms } from './engine/forms/index.ts';

/** The catalogue of built-in detectors, by id. */
export const detectors: readonly Detector[] = forms.map((detector) => ({
  ...detector,
  context_words: [...detector.context_words],
}));

/** Detectors: the catalogue, which is part of the release. */
export const detectorHandlers = () =>
  ({
    list: ({ focus }) =>
      Promise.resolve(detectors.filter((detector) => focus === undefined || detector.focus === focus)),
  }) satisfies Detectors<Context>;
