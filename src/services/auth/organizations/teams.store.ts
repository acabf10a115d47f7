import type { Team, TeamMember } from '../../../../generated/auth/types.ts';
import { constrained } from '../../../db/constraints.ts';
import type { Sql } from '../../../db/index.ts';
import { followsPrevious, onePage, type Window } from '../../../db/lists.ts';
import { NotFound } from '../../../lib/errors.ts';
import { constraints } from '../errors.ts';

export interface NewTeam extends Pick<Team, 'id' | 'org_id' | 'name' | 'slug'> {
  readonly tenant_id: string;
}

export interface NewTeamMember extends Pick<TeamMember, 'id' | 'team_id' | 'user_id'> {
  readonly tenant_id: string;
}

/** Every statement about the teams of an organization and their members. The statements maintain `member_count`. */
export const teamStore = (sql: Sql) => ({
  async insert(team: NewTeam): Promise<Team> {
    const [inserted] = await constrained(
      constraints,
      sql<[Team]>`insert into auth.teams ${sql(team)} returning ${teamColumns(sql)}`,
    );
    return inserted;
  },

  async get(tenant: string, orgId: string, id: string): Promise<Team> {
    const [team] = await sql<Team[]>`
      select ${teamColumns(sql)}
      from auth.teams
      where tenant_id = ${tenant} and org_id = ${orgId} and id = ${id}`;
    if (!team) throw NotFound('team');
    return team;
  },

  /** Lists the newest first; returns one more than `limit` when more follow. */
  async list(tenant: string, orgId: string, window: Window): Promise<Team[]> {
    return await sql<Team[]>`
      select ${teamColumns(sql)}
      from auth.teams
      where tenant_id = ${tenant} and org_id = ${orgId}
        ${followsPrevious(sql, window)}
      ${onePage(sql, window)}`;
  },

  async update(
    tenant: string,
    { id, org_id, name, slug }: Pick<Team, 'id' | 'org_id' | 'name' | 'slug'>,
  ): Promise<Team> {
    const [updated] = await constrained(
      constraints,
      sql<[Team]>`
        update auth.teams set name = ${name}, slug = ${slug}, updated_at = now()
        where tenant_id = ${tenant} and org_id = ${org_id} and id = ${id}
        returning ${teamColumns(sql)}`,
    );
    return updated;
  },

  async delete(tenant: string, orgId: string, id: string): Promise<void> {
    const { count } = await sql`
      delete from auth.teams where tenant_id = ${tenant} and org_id = ${orgId} and id = ${id}`;
    if (count === 0) throw NotFound('team');
  },

  async addMember(member: NewTeamMember): Promise<TeamMember> {
    const [added] = await constrained(
      constraints,
      sql<[TeamMember]>`
        with team_members as (
          insert into auth.team_members ${sql(member)}
          returning *
        ), counted as (
          update auth.teams set member_count = member_count + 1, updated_at = now()
          where tenant_id = ${member.tenant_id} and id = ${member.team_id}
        )
        select ${memberColumns(sql)} from team_members`,
    );
    return added;
  },

  /** Lists the newest first; returns one more than `limit` when more follow. */
  async members(tenant: string, teamId: string, window: Window): Promise<TeamMember[]> {
    return await sql<TeamMember[]>`
      select ${memberColumns(sql)}
      from auth.team_members
      where tenant_id = ${tenant} and team_id = ${teamId}
        ${followsPrevious(sql, window)}
      ${onePage(sql, window)}`;
  },

  async removeMember(tenant: string, teamId: string, id: string): Promise<void> {
    const { count } = await sql`
      with gone as (
        delete from auth.team_members
        where tenant_id = ${tenant} and team_id = ${teamId} and id = ${id}
        returning team_id
      )
      update auth.teams set member_count = member_count - 1, updated_at = now()
      where tenant_id = ${tenant} and id in (select team_id from gone)`;
    if (count === 0) throw NotFound('member');
  },
});

const teamColumns = (sql: Sql) => sql`
  teams.id, teams.org_id, teams.name, teams.slug, teams.member_count, teams.created_at, teams.updated_at`;

const memberColumns = (sql: Sql) => sql`
  team_members.id, team_members.team_id, team_members.user_id, team_members.created_at`;
