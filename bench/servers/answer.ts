/** The constant answer of the compared servers. */
export const answer = {
  allowed: true,
  decision: 'allow',
  reason: 'role "editor" grants "document:read"',
  sources: ['rbac'],
  revision: 42,
  matched_by: { source: 'rbac', rule_id: 'perm_01m7w4n5e0f09tyqnar8mvs3hn', detail: 'role "editor"' },
};
