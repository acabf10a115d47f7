import type { ErrorDetail, ErrorReason } from '../../../generated/auth/types.ts';
import type { Constraints } from '../../db/constraints.ts';
import {
  Conflict,
  Forbidden,
  Invalid,
  RateLimited,
  Unauthenticated,
  type DomainError,
  type ErrorKind,
} from '../../lib/errors.ts';

/** The codes in the service's error envelope, one for each kind of failure that its contract documents. */
const codes: Partial<Record<ErrorKind, string>> = {
  invalid: 'BAD_REQUEST',
  unauthenticated: 'UNAUTHORIZED',
  forbidden: 'FORBIDDEN',
  notFound: 'NOT_FOUND',
  methodNotAllowed: 'METHOD_NOT_ALLOWED',
  conflict: 'CONFLICT',
  gone: 'GONE',
  tooLarge: 'TOO_LARGE',
  unsupportedMediaType: 'UNSUPPORTED_MEDIA_TYPE',
  rateLimited: 'RATE_LIMITED',
  unavailable: 'INTERNAL_ERROR',
  internal: 'INTERNAL_ERROR',
};

/** The error envelope of the service: a message that is safe to show, a code, and for some errors a machine-readable reason. */
export const encodeError = (error: DomainError) => ({
  error: error.message,
  code: codes[error.kind] ?? 'INTERNAL_ERROR',
  ...error.details,
});

const because = (reason: ErrorReason) => ({ details: { reason } });

/** Names every field of `metadata` that violates the app's form. */
export const FormInvalid = (details: readonly ErrorDetail[]) =>
  Invalid(`${details[0]?.field ?? 'metadata'}: ${details[0]?.message ?? 'invalid'}`, {
    details: { reason: 'form_invalid' satisfies ErrorReason, details },
  });
export const WeakPassword = (problem: string, field = 'password') =>
  Invalid(`${field}: ${problem}`, because('weak_password'));
/** A one-time token is unknown, used, replaced or expired; the error does not say which. */
export const InvalidToken = () => Invalid('token: invalid or expired', because('invalid_token'));
export const RoleCycle = () => Invalid('parent_id: cycle', because('role_cycle'));
/** The error does not say whether the account, the password, the code or the token was wrong. */
export const InvalidCredentials = () => Unauthenticated('invalid credentials');
/** The refresh token was already used. */
export const RefreshReused = () => Unauthenticated('invalid credentials', because('refresh_reused'));
export const UserBanned = () => Forbidden('user is banned', because('user_banned'));
export const EmailNotVerified = () => Forbidden('email is not verified', because('email_not_verified'));
export const SignupDisabled = () => Forbidden('sign-up is disabled', because('signup_disabled'));
/** `scheme` is set when the caller is an OAuth client, which reads the challenge header (RFC 6750, section 3.1). */
export const MissingScope = (scope: string, scheme?: 'Bearer' | 'DPoP') =>
  Forbidden(`missing scope ${scope}`, {
    ...because('insufficient_scope'),
    ...(scheme && { challenge: `${scheme} error="insufficient_scope", scope="${scope}"` }),
  });
export const InsufficientRole = (role: string) =>
  Forbidden(`needs the role ${role} in the organization`, because('insufficient_role'));
/** Nobody becomes a member without their consent. */
export const ByInvitation = (orgId: string) =>
  Forbidden(
    `members come by invitation: see POST /organizations/${orgId}/invitations`,
    because('insufficient_scope'),
  );
/** The error does not reveal the address that the invitation is for. */
export const OtherAddress = () => Forbidden('the invitation is for another address');
export const InvitationDecided = (status: string) => Conflict(`invitation already ${status}`);
export const LastOwner = () => Conflict('last owner of the organization');
export const GrantExceedsCaller = (scope: string) =>
  Forbidden(`cannot give ${scope}, which the caller does not hold`, because('grant_exceeds_caller'));
/** The caller must not change, end or take over a target that holds more than the caller does. */
export const HoldsMore = (what: 'user' | 'role' | 'client' | 'app', scope: string) =>
  Forbidden(`the ${what} holds ${scope}, which the caller does not`, because('grant_exceeds_caller'));
export const Impersonated = () => Forbidden('not allowed while impersonating', because('impersonated'));
export const NotFresh = () =>
  Forbidden('needs a recent sign-in: see POST /me/reauthenticate', because('reauthentication_required'));
export const AppMismatch = () => Forbidden("app_id: not the caller's own", because('app_mismatch'));
/** The tenant has no app, or not the one that root's header names. */
export const NoApp = () => Forbidden('the tenant has no such app: see POST /apps', because('app_mismatch'));
export const Throttled = (retryAfter: number) =>
  RateLimited('too many attempts', { retryAfter, ...because('throttled') });
export const TooManyAttempts = (retryAfter: number) =>
  RateLimited('too many attempts', { retryAfter, ...because('too_many_attempts') });

export const TextsNotConfigured = () => Invalid('sms is not configured');

/** The error that the caller receives when a constraint is violated. */
export const constraints: Constraints = {
  apps_slug: () => Conflict('slug already taken'),
  users_email: () => Conflict('email already taken'),
  users_username: () => Conflict('username already taken'),
  users_phone: () => Conflict('phone already taken'),
  roles_slug: () => Conflict('slug already taken'),
  permissions_right: () => Conflict('permission already in the role'),
  organizations_slug: () => Conflict('slug already taken'),
  members_user: () => Conflict('already a member'),
  teams_slug: () => Conflict('slug already taken'),
  team_members_user: () => Conflict('already a member'),
  branding_owner: () => Conflict('branding already exists'),
};
