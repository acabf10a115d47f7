/** The hot paths of the webhooks against their baselines. */
import type { Measurements } from './row.ts';
import { accept, acceptOverHttp, match, validate } from './webhooks/acceptance.ts';
import { delay, endToEnd } from './webhooks/deliveries.ts';
import { hanging } from './webhooks/hanging.ts';
import { history } from './webhooks/history.ts';
import { takeover } from './webhooks/takeover.ts';

export default {
  accept,
  acceptOverHttp,
  endToEnd,
  delay,
  hanging,
  match,
  validate,
  history,
  takeover,
} satisfies Measurements;
