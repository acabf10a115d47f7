import { markup } from '../../../http/html.ts';
import { pictures } from './icons.ts';
import { endPage, errorPage } from './message-pages.ts';
import type { PageView } from './layout.ts';
import { button, field, hidden, notice, titled } from './parts.ts';
import type { Problems } from './problems.ts';
import { scopeList } from './scopes.ts';

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
<p class="lead">Enter the code that your device shows.</p>
${notice(problems?.summary)}
<form method="post" action="${action}">${hidden('xsrf', xsrf)}${field(
    {
      name: 'user_code',
      label: 'Code',
      value: userCode,
      fill: 'off',
      hint: 'The code has eight letters, like WDJB-MJHT. Continue only if it is on a device in front of you.',
      longest: 64,
      kind: 'code',
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
<p class="lead">A device asks for access to your account. Continue only if it is in front of you and shows this code:</p>
<p class="device-code"><code>${userCode}</code></p>
${scopeList(scopes)}${
      askedFrom !== undefined &&
      markup`
<p class="hint after">The device asked from the address ${askedFrom}.</p>`
    }
<div class="pair">${decision('abort', 'Not my device', 'plain')}${decision('confirm', 'Connect', 'primary')}</div>`,
  };
};

export const deviceConnectedPage = (clientName: string): PageView =>
  endPage(
    'Your device is connected',
    `Go back to your device: ${clientName} continues by itself in a moment.`,
    {
      picture: pictures.done,
      way: undefined,
    },
  );

export const deviceRefusedPage = (start: string): PageView =>
  endPage('The device was not connected', 'It has no access to your account.', {
    picture: pictures.refused,
    way: { href: start, text: 'Enter another code' },
  });

/** The form is from a page that this browser was not shown. `start` is where a code is entered. */
export const deviceStalePage = (start: string): PageView =>
  errorPage('This page is out of date', 'Enter the code that your device shows once more.', {
    way: { href: start, text: 'Enter the code again' },
  });

/** The authorization of the device was lost; only the device can start again. */
export const deviceGonePage = (start: string): PageView =>
  endPage(
    'This sign-in has ended',
    'It was completed, it took too long, or it was started in another browser. Ask your device for a new code.',
    { picture: pictures.over, way: { href: start, text: 'Enter a new code' } },
  );
