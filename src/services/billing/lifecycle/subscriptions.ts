import type { Subscriptions } from '../../../../generated/billing/server.ts';
import type { Context } from '../../../http/context.ts';
import { viewOf } from '../../../http/view.ts';
import { Forbidden, Invalid } from '../../../lib/errors.ts';
import { momentText } from '../../../lib/moments.ts';
import type { Deps } from '../deps.ts';
import { InvalidState, Refused, SubscriptionNotFound } from '../errors.ts';
import { checkMetadata } from '../metadata.ts';
import { pageOf } from '../pages.ts';
import { pause } from '../periods/course.ts';
import { isEntitling, isLive, nextStatus } from '../subscriptions/states.ts';
import { subscriptionOf } from '../subscriptions/subscription.ts';
import { type ListedSubscription, subscriptionStore } from '../subscriptions/subscriptions.store.ts';
import type { Write } from '../writes.ts';
import { cancelAtPeriodEnd, uncancel } from './cancellations.ts';
import { subscribe } from './creation.ts';
import { end } from './endings.ts';
import { changePlan } from './plan-changes.ts';
import { upcoming } from './previews.ts';
import { lockCurrent, resume } from './renewals.ts';
import { repeatedly } from './repetition.ts';
import { changed, checkRoom, cuttableFrom, follow, positionOf, standingOf } from './standing.ts';

/** The longest pause that ends by itself. */
const longestPauseMs = 366 * 86_400_000;

/** Subscriptions: every change brings the subscription up to date first, under the lock of its row. */
export function subscriptions(deps: Deps) {
  const { db, clock } = deps;
  const change = (
    context: Context,
    id: string,
    act: (tx: Write, row: ListedSubscription, now: number) => Promise<ListedSubscription>,
  ) =>
    repeatedly(() =>
      deps.write(context, async (tx) =>
        act(tx, await lockCurrent(tx, deps, viewOf(context), id), clock.now()),
      ),
    );
  return {
    async create({ body }, context) {
      checkMetadata(body.metadata);
      return subscriptionOf(
        await repeatedly(() => deps.write(context, (tx) => subscribe(tx, deps, context, body))),
      );
    },

    async list({ tenant_id, status, ...page }, context) {
      const found = await subscriptionStore(db.sql).list(viewOf(context, tenant_id), { status }, page);
      return pageOf(page, found, subscriptionOf);
    },

    async get({ id }, context) {
      const row = await subscriptionStore(db.sql).find(viewOf(context), id);
      if (row === undefined) throw SubscriptionNotFound();
      return subscriptionOf(row);
    },

    async update({ id, body: { metadata } }, context) {
      if (metadata !== undefined) checkMetadata(metadata);
      const after = await change(context, id, (tx, row, now) =>
        metadata === undefined ? Promise.resolve(row) : changed(tx, row, { metadata }, now),
      );
      return subscriptionOf(after);
    },

    async cancel({ id, body = { immediately: false } }, context) {
      const after = await change(context, id, (tx, row, now) => {
        if (row.status === 'canceled' && body.immediately) return Promise.resolve(row);
        if (!isLive(row.status)) throw Refused('subscription_canceled', 'subscription has ended');
        return body.immediately
          ? end(tx, deps, row, { status: 'canceled', at: now })
          : cancelAtPeriodEnd(tx, deps, row, now);
      });
      return { id: after.id, status: after.status, cancel_at: after.cancel_at };
    },

    async uncancel({ id }, context) {
      return subscriptionOf(await change(context, id, (tx, row, now) => uncancel(tx, deps, row, now)));
    },

    async pause({ id, body = { resume_at: null } }, context) {
      const after = await change(context, id, async (tx, row, now) => {
        if (row.status === 'paused' && row.resume_at === body.resume_at) return row;
        const status = nextStatus(row.status, 'pause');
        if (status === undefined) throw InvalidState(`subscription is ${row.status}`);
        checkResumption(body.resume_at, now);
        const standing = await standingOf(tx.sql, row, now);
        checkRoom(standing);
        const at = cuttableFrom(standing, now);
        const { segments } = pause(positionOf(standing, at));
        await follow(tx, row, at, segments);
        const paused = await changed(tx, row, { status, resume_at: body.resume_at }, now);
        tx.emit('billing.subscription.paused', paused, subscriptionOf(paused));
        return paused;
      });
      return subscriptionOf(after);
    },

    async resume({ id }, context) {
      const after = await change(context, id, async (tx, row, now) => {
        if (isEntitling(row.status)) return row;
        if (nextStatus(row.status, 'resume') === undefined)
          throw InvalidState(`subscription is ${row.status}`);
        return await resume(tx, deps, row, cuttableFrom(await standingOf(tx.sql, row, now), now));
      });
      return subscriptionOf(after);
    },

    async changePlan({ id, body }, context) {
      if (!body.prorate && !context.operator)
        throw Forbidden('prorate: only the operator leaves the base amount as it is');
      const seesDrafts = context.operator;
      return subscriptionOf(
        await change(context, id, (tx, row) => changePlan(tx, deps, row, { ...body, seesDrafts })),
      );
    },

    upcoming: ({ id }, context) =>
      repeatedly(() =>
        deps.write(context, async (tx) =>
          upcoming(tx, deps, await lockCurrent(tx, deps, viewOf(context), id)),
        ),
      ),
  } satisfies Subscriptions<Context>;
}

function checkResumption(resumeAt: string | null, now: number): void {
  if (resumeAt === null) return;
  if (resumeAt <= momentText(now)) throw Invalid('resume_at: must be in the future');
  if (resumeAt > momentText(now + longestPauseMs)) throw Invalid('resume_at: must be at most a year away');
}
