import type { ChallengeMethod } from '../../../../generated/auth/types.ts';
import { type Hole, type Markup, markup } from '../../../http/html.ts';
import type { PageView } from './layout.ts';
import { button, field, form, hidden, notice, titled } from './parts.ts';
import type { Problems } from './problems.ts';
import type { InteractionFrame } from './signin-page.ts';

export interface FactorForms {
  /** The target of the form with the code. */
  readonly action: string;
  /** The target for requesting a code by SMS; undefined if that is not available. */
  readonly send: string | undefined;
  readonly csrf: string;
  /** Hidden fields that the form also sends. */
  readonly carried?: readonly Hole[];
  readonly methods: readonly ChallengeMethod[];
  /** Whether a code was texted that is still valid. */
  readonly texted: boolean;
  /** The method that was tried last. */
  readonly tried?: ChallengeMethod | undefined;
  readonly problems?: Problems | undefined;
}

export interface MfaPage extends InteractionFrame, Omit<FactorForms, 'action' | 'send' | 'carried'> {}

export function mfaPage({ paths, csrf, ...shown }: MfaPage): PageView {
  const { problems } = shown;
  return {
    title: titled('Confirm that it is you', problems),
    body: markup`<h1>Confirm that it is you</h1>
<p class="lead">Your account is protected by a second step.</p>
${factorForms({ ...shown, csrf, action: paths.mfa, send: paths.send })}
<p class="links"><a href="${paths.page}?switch_account=true">Use another account</a></p>
${form(paths.abort, csrf, button('Cancel', 'quiet'))}`,
  };
}

/** One form per method: the one tried last, otherwise the one that a code was texted for, otherwise the first, is open; the others are a click away. */
export function factorForms({ methods, tried, problems, ...shown }: FactorForms): Markup {
  const wanted = tried ?? (shown.texted ? 'sms' : undefined);
  const first = wanted !== undefined && methods.includes(wanted) ? wanted : methods[0];
  const others = methods.filter((method) => method !== first);
  return markup`${notice(problems?.summary)}
${first && factorForm(first, { methods, problems, ...shown }, true)}
${others.map(
  (method) => markup`<details><summary>${invitations[method]}</summary>
${factorForm(method, { methods, problems: undefined, ...shown }, false)}</details>`,
)}`;
}

const invitations: Readonly<Record<ChallengeMethod, string>> = {
  totp: 'Use an authenticator app instead',
  sms: 'Use a text message instead',
  recovery: 'Use a recovery code instead',
};

const labels: Readonly<Record<ChallengeMethod, string>> = {
  totp: 'Code from your authenticator app',
  sms: 'Code from the text message',
  recovery: 'Recovery code',
};

function factorForm(method: ChallengeMethod, shown: FactorForms, open: boolean): Markup {
  const { action, send, csrf, carried = [], texted, problems } = shown;
  const code = form(
    action,
    csrf,
    ...carried,
    hidden('method', method),
    field(
      {
        id: `code-${method}`,
        name: 'code',
        label: labels[method],
        fill: method === 'recovery' ? 'off' : 'one-time-code',
        inputMode: method === 'recovery' ? 'text' : 'numeric',
        longest: method === 'recovery' ? 32 : 6,
        kind: method === 'recovery' ? 'code' : 'digits',
        hint:
          method === 'recovery'
            ? 'Enter one of the recovery codes that you saved, such as 7kq2-m9xd-r4tw.'
            : undefined,
      },
      problems,
      open ? 'code' : undefined,
    ),
    button('Continue'),
  );
  if (method !== 'sms' || send === undefined) return code;
  const again = form(
    send,
    csrf,
    ...carried,
    button(texted ? 'Text another code' : 'Text me a code', 'plain'),
  );
  return markup`${texted && notice('We texted a code to your phone.', 'done')}${code}${again}`;
}
