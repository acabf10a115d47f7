import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { OrgRole } from '../../../../generated/auth/types.ts';
import {
  judge,
  rolesToInvite,
  roleToInvite,
  roleToManage,
  type Need,
  type Standing,
  type Verdict,
} from './org-access.ts';

const roles: readonly OrgRole[] = ['member', 'admin', 'owner'];
const nobody: Standing = { isUser: true, role: null, reads: false, writes: false };
const key: Standing = { ...nobody, isUser: false };

describe('judge', () => {
  it.each<[Partial<Standing>, OrgRole, Need['scope'], Verdict]>([
    [{ role: 'member' }, 'member', 'auth:read', 'granted'],
    [{ role: 'member' }, 'admin', 'auth:write', 'role'],
    [{ role: 'admin' }, 'admin', 'auth:write', 'granted'],
    [{ role: 'admin' }, 'owner', 'auth:write', 'role'],
    [{ role: 'owner' }, 'owner', 'auth:write', 'granted'],
    [{}, 'member', 'auth:read', 'hidden'],
    [{}, 'owner', 'auth:write', 'hidden'],
    [{ reads: true }, 'owner', 'auth:read', 'granted'],
    [{ reads: true }, 'member', 'auth:write', 'scope'],
    [{ reads: true, role: 'member' }, 'admin', 'auth:write', 'role'],
    [{ writes: true }, 'owner', 'auth:write', 'granted'],
    [{ writes: true }, 'member', 'auth:read', 'hidden'],
    [{ ...key }, 'member', 'auth:read', 'scope'],
    [{ ...key, writes: true }, 'member', 'auth:read', 'scope'],
    [{ ...key, writes: true }, 'owner', 'auth:write', 'granted'],
  ])('%j for %s or %s: %s', (standing, role, scope, verdict) => {
    expect(judge({ ...nobody, ...standing }, { role, scope })).toBe(verdict);
  });

  const standings = fc.record({
    isUser: fc.boolean(),
    role: fc.constantFrom(null, ...roles),
    reads: fc.boolean(),
    writes: fc.boolean(),
  });
  const scopes = fc.constantFrom<Need['scope']>('auth:read', 'auth:write');

  it('a higher role never may less', () => {
    fc.assert(
      fc.property(standings, fc.constantFrom(...roles), scopes, (standing, needed, scope) => {
        const granted = roles.map(
          (role) => judge({ ...standing, role }, { role: needed, scope }) === 'granted',
        );
        expect(granted).toEqual([...granted].sort((a, b) => Number(a) - Number(b)));
      }),
    );
  });

  it('nothing is hidden from members, and everything from strangers', () => {
    fc.assert(
      fc.property(standings, fc.constantFrom(...roles), scopes, (standing, role, scope) => {
        const verdict = judge(standing, { role, scope });
        if (standing.role !== null) expect(['granted', 'role']).toContain(verdict);
        else if (standing.isUser && !standing.reads && !standing.writes) expect(verdict).toBe('hidden');
      }),
    );
  });
});

it.each<[OrgRole | null, OrgRole[]]>([
  [null, []],
  ['member', []],
  ['admin', ['member', 'admin']],
  ['owner', ['member', 'admin', 'owner']],
])('who is %s may invite %j', (role, invited) => expect(rolesToInvite(role)).toEqual(invited));

it.each<[OrgRole, OrgRole, OrgRole]>([
  ['member', 'admin', 'admin'],
  ['admin', 'owner', 'admin'],
  ['owner', 'owner', 'owner'],
])('a %s is managed by the role %s and invited by the role %s', (role, manages, invites) => {
  expect([roleToManage(role), roleToInvite(role)]).toEqual([manages, invites]);
});
