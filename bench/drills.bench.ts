/** Drills: what must hold when processes die, when the database is unreachable and when receivers hang. */
import { embeddedKills, kills } from './drills/kills.ts';
import { losses } from './drills/losses.ts';
import { objectKills } from './drills/objects.ts';
import { restarts } from './drills/restarts.ts';
import { slowClients } from './drills/slow-clients.ts';
import { embeddedUsage, usage } from './drills/usage.ts';
import type { Measurements } from './row.ts';
import { hanging } from './webhooks/hanging.ts';

export default {
  kills,
  embeddedKills,
  losses,
  objectKills,
  restarts,
  hanging,
  slowClients,
  usage,
  embeddedUsage,
} satisfies Measurements;
