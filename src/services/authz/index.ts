import type { ServiceModule } from '../../http/service.ts';
import { assignments } from './assignments.ts';
import { decisions } from './decisions.ts';
import { encodeError } from './errors.ts';
import { Models } from './models.ts';
import { permissions } from './permissions.ts';
import { policies } from './policies.ts';
import { relations } from './relations.ts';
import { resourceTypes } from './resource-types.ts';
import { roles } from './roles.ts';
import { checkSettings, settings } from './settings.ts';
import { subjects } from './subjects.ts';
import { changesSweep, expiredSweep, goneRolesSweep } from './sweeps.ts';
import { createWriter } from './writes.ts';

/**
 * The authorization service: may a subject perform an action on a resource?
 *
 * Terminology
 * - Subject: the party that acts, as kind and id (`user:42`). Resource: the object of the action, as type and id
 *   (`document:readme`). Both are named by callers and not stored.
 * - Role, permission, assignment: a role holds permissions (type × action) and inherits from its parent; an assignment gives a
 *   role to a subject, for everything, for a type or for one resource (RBAC).
 * - Relation, or tuple: `object#relation@subject`. A subject may be a set, `group:eng#member` (ReBAC).
 * - Resource type: declares the relations of a type and the permissions that are computed from them.
 * - Policy: allows or denies while its conditions over attributes hold (ABAC).
 * - Decision: explicit deny, else any allow, else deny.
 * - Revision: a number that every committed write of a tenant raises by 1; every decision belongs to exactly one.
 * - Rules: roles, permissions, attachments, policies, resource types (few). Facts: assignments and tuples (many).
 * - Model: a tenant's rules and facts that a process holds to decide without a query; full (all facts) or partial.
 * - Slice: a part of the facts that a partial model fetches, keeps and evicts as a unit.
 */
export const authz = {
  name: 'authz',
  migrations: new URL('./migrations/', import.meta.url),
  settings,
  checkSettings: ({ settings }) => checkSettings(settings),
  create({ db, settings }) {
    checkSettings(settings);
    const models = new Models(db, settings);
    const deps = { db, settings, models, ...createWriter(db, models) };
    let stopModels = () => {};
    return {
      handlers: {
        Assignments: assignments(deps),
        Decisions: decisions(deps),
        Permissions: permissions(deps),
        Policies: policies(deps),
        Relations: relations(deps),
        ResourceTypes: resourceTypes(deps),
        Roles: roles(deps),
        Subjects: subjects(deps),
      },
      encodeError,
      sweeps: [expiredSweep(db), goneRolesSweep(db), changesSweep(db, settings.changesRetention)],
      outbox: {},
      start() {
        stopModels = models.start();
      },
      stop() {
        stopModels();
      },
    };
  },
} satisfies ServiceModule<typeof settings>;
