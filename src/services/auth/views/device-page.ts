import { markup } from '../../../http/html.ts';
import { scopeItem } from './consent-page.ts';
import { errorPage } from './message-pages.ts';
import type { PageView } from './layout.ts';
import { button, field, hidden, notice, titled } from './parts.ts';
import type { Problems } from './problems.ts';

interface DeviceFrame {
  /** The target of the forms. */
  readonly action: string;
  /** The provider's token against forged requests, which the form sends back. */
  readonly xsrf: string;
}

export interface DeviceCodePage extends DeviceFrame {
  /** The code that was typed, or that the device passed on. */
  readonly userCode: string;
  readonly problems?: Problems | undefined;
}

/** Asks for the code that a device shows. */
export const deviceCodePage = ({ action, xsrf, userCode, problems }: DeviceCodePage): PageView => ({
  title: titled('Connect a device', problems),
  body: markup`<h1>Connect a device</h1>
<p class="lead">Type the code that your device shows.</p>
${notice(problems?.summary)}
<form method="post" action="${action}">${hidden('xsrf', xsrf)}${field(
    {
      name: 'user_code',
      label: 'Code',
      value: userCode,
      fill: 'off',
      hint: 'Eight letters, like WDJB-MJHT. Go on only if it is the code on a device that is in front of you.',
      longest: 64,
      className: 'code',
    },
    problems,
    'user_code',
  )}${button('Continue')}</form>`,
});

export interface DeviceConfirmPage extends DeviceFrame {
  readonly userCode: string;
  readonly clientName: string;
  readonly scopes: readonly string[];
  /** The network address from which the device asked. */
  readonly askedFrom: string | undefined;
}

/** Shows the code and the requested scopes before anything else. */
export const deviceConfirmPage = ({ action, xsrf, ...shown }: DeviceConfirmPage): PageView => {
  const { userCode, clientName, scopes, askedFrom } = shown;
  const decision = (name: string, label: string, kind: 'primary' | 'plain') =>
    markup`<form method="post" action="${action}">${hidden('xsrf', xsrf)}${hidden('user_code', userCode)}${hidden(
      name,
      'yes',
    )}${button(label, kind)}</form>`;
  return {
    title: `Connect ${clientName}?`,
    body: markup`<h1>Connect ${clientName}?</h1>
<p class="lead">A device asks for access to your account. Go on only if it is in front of you and shows this code:</p>
<p class="device-code"><code>${userCode}</code></p>
<h2>It will be able to</h2>
<ul class="scopes">${scopes.map(scopeItem)}</ul>${
      askedFrom !== undefined &&
      markup`
<p class="hint after">It asked from the address ${askedFrom}.</p>`
    }
<div class="pair">${decision('abort', 'It is not mine', 'plain')}${decision('confirm', 'Connect', 'primary')}</div>`,
  };
};

export const deviceConnectedPage = (clientName: string): PageView => ({
  title: 'Your device is connected',
  body: markup`<h1>Your device is connected</h1>
<p>${clientName} goes on by itself in a moment. You can close this page.</p>`,
});

export const deviceRefusedPage = (): PageView => ({
  title: 'The device was not connected',
  body: markup`<h1>The device was not connected</h1>
<p>It has no access to your account. You can close this page.</p>`,
});

/** The form is from a page that this browser was not shown. */
export const deviceStalePage = (): PageView =>
  errorPage('This page is out of date', 'Open it again, and type the code that your device shows.');

/** The authorization of the device was lost; only the device can start again. */
export const deviceGonePage = (): PageView =>
  errorPage(
    'This sign-in is over',
    'It took too long, was finished, or began in another browser. Ask your device for a new code.',
  );
