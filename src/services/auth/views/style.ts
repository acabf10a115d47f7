import { safeCss } from '../text/custom-css.ts';
import { type BrandColors, palette, schemesOf } from '../look/colors.ts';
import { fontsOf, type Look } from '../look/look.ts';

const monospace = 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace';

const page = `
*, *::before, *::after { box-sizing: border-box }
html { -webkit-text-size-adjust: 100% }
body { margin: 0; min-height: 100vh; display: grid; grid-template-columns: minmax(0, 1fr); place-items: center; padding: 2.5rem 1rem;
  background: var(--backdrop); color: var(--text); font: 1rem/1.5 var(--font); overflow-wrap: anywhere }
main { width: 100%; max-width: 26rem; padding: 2.5rem; background: var(--ground); border: 1px solid var(--line);
  border-radius: 1.25rem; box-shadow: 0 1px 2px #0000000a, 0 16px 40px #00000012 }
main.wide { max-width: 44rem }
header { display: grid; justify-items: center; gap: .25rem; margin-bottom: 1.75rem; text-align: center }
header img { display: block; min-width: 3rem; max-width: min(12rem, 100%); height: 3rem; object-fit: contain }
header .name { margin: .5rem 0 0; font-size: 1.125rem; font-weight: 650; letter-spacing: -.01em }
header .tagline { margin: 0; color: var(--muted); font-size: .875rem }
.mark { display: grid; place-items: center; flex: none; width: 3rem; height: 3rem; border-radius: .875rem; background: var(--primary);
  border: 1px solid var(--primary-line); color: var(--on-primary); font-size: 1.25rem; font-weight: 650; line-height: 1 }
h1 { margin: 0; font-size: 1.5rem; font-weight: 650; line-height: 1.25; letter-spacing: -.02em; text-align: center; text-wrap: balance }
h2 { margin: 0 0 .75rem; font-size: 1rem; font-weight: 600 }
p { margin: 0 0 1rem }
h1 + p { margin-top: .5rem }
.lead { margin-bottom: 1.75rem; color: var(--muted); text-align: center; text-wrap: pretty }
.lead strong { color: var(--text); font-weight: 600 }
.said { color: var(--muted); text-align: center; text-wrap: pretty }
.said strong { color: var(--text); font-weight: 600 }
.hint { margin: .375rem 0 0; color: var(--muted); font-size: .875rem }
.said.hint { margin: 0 0 1rem }
a { color: var(--link); text-underline-offset: .2em; text-decoration-thickness: 1px }
code { font-family: ${monospace}; font-size: .9375em }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px }
.icon { display: block; width: 3rem; height: 3rem; margin: 0 auto 1.25rem; padding: .75rem; border-radius: 50%; color: var(--on-done-ground);
  background: var(--done-ground) }
.icon.plain { color: var(--text); background: var(--backdrop) }
`;

const forms = `
form { display: grid; gap: 1.25rem; margin: 0 }
form + form, form + details, details + details, details + form, .links + form { margin-top: .5rem }
form:has(.field) + form { margin-top: .75rem }
.field { display: grid; grid-template-columns: minmax(0, 1fr) auto; column-gap: 1rem }
.field > * { grid-column: 1 / -1 }
.field > label { grid-column: 1; grid-row: 1 }
.field > .aside { grid-column: 2; grid-row: 1; align-self: end; display: flex; align-items: end; min-height: 2.75rem; margin-top: -1.25rem;
  padding-bottom: .375rem; font-size: .875rem }
label, legend { display: block; margin: 0; padding: 0 0 .375rem; font-size: .9375rem; font-weight: 500 }
.optional { color: var(--muted); font-weight: 400 }
fieldset { margin: 0; padding: 0; border: 0 }
input:where(:not([type=checkbox], [type=radio])), select, textarea { display: block; width: 100%; min-height: 2.75rem;
  padding: .5rem .75rem; border: 1px solid var(--field); border-radius: .625rem; background: var(--ground); color: var(--text); font: inherit }
::placeholder { color: var(--muted); opacity: 1 }
input:where(:not([type=checkbox], [type=radio])):focus-visible, select:focus-visible, textarea:focus-visible {
  outline-width: 2px; outline-offset: -1px; box-shadow: 0 0 0 4px var(--focus-glow) }
textarea { min-height: 6rem; resize: vertical }
.secret { display: grid }
.secret > * { grid-area: 1 / 1 }
.secret input { padding-inline-end: 4.5rem }
input.code { font-family: ${monospace}; font-size: 1.25rem; letter-spacing: .12em }
.choice { display: flex; align-items: center; gap: .75rem; min-height: 2.75rem }
.choice input { width: 1.25rem; height: 1.25rem; margin: 0; flex: none; accent-color: var(--primary-line) }
.choice label { padding: .5rem 0; font-weight: 400 }
[aria-invalid=true] { border-color: var(--danger) !important; outline-color: var(--danger) }
.problem { margin: .375rem 0 0; color: var(--danger); font-size: .875rem; font-weight: 500 }
.notice { margin: 0 0 1.5rem; padding: .75rem 1rem; border: 1px solid; border-radius: .625rem; font-size: .9375rem }
.notice.danger { color: var(--on-danger-ground); background: var(--danger-ground) }
.notice.done { color: var(--on-done-ground); background: var(--done-ground) }
button, .button { display: block; width: 100%; min-height: 2.75rem; padding: .5rem 1rem; border: 1px solid var(--primary-line);
  border-radius: .625rem; background: var(--primary); color: var(--on-primary); font: inherit; font-weight: 600; line-height: 1.625rem;
  text-align: center; text-decoration: none; cursor: pointer; transition: background-color .15s, border-color .15s }
button:hover { background: var(--primary-hover) }
button.plain, .button { border-color: var(--field); background: var(--ground); color: var(--text) }
button.plain:hover, .button:hover { border-color: var(--text); background: var(--ground) }
button.quiet { border-color: transparent; background: none; color: var(--muted); font-weight: 500 }
button.quiet:hover { color: var(--text); background: none; text-decoration: underline; text-underline-offset: .2em }
.reveal { width: auto; justify-self: end; border-color: transparent; background: none; color: var(--muted); font-size: .875rem; font-weight: 500 }
.reveal:hover { background: none; color: var(--text) }
.links { display: flex; flex-wrap: wrap; justify-content: center; align-items: center; column-gap: .5rem; margin: 1rem 0 0;
  color: var(--muted); font-size: .9375rem }
details + .links { margin: 0 }
.links a { display: inline-flex; align-items: center; min-height: 2.75rem }
.way { margin: 1.75rem 0 0 }
summary { display: flex; align-items: center; justify-content: center; min-height: 2.75rem; color: var(--link); cursor: pointer;
  font-size: .9375rem; text-decoration: underline; text-underline-offset: .2em; text-decoration-thickness: 1px; list-style: none }
summary::-webkit-details-marker { display: none }
details { margin-top: .5rem }
details form { padding-top: .75rem }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 8rem), 1fr)); gap: .75rem; margin-top: 1.75rem }
.pair form { margin: 0 }
.pair button { padding-inline: .5rem }
`;

/**
 * The field of a code of six digits is one input over six cells. Its letters are as far apart as the cells, and it is a cell wider
 * than they are, so that it does not scroll when it is full.
 */
const cells = `
@supports (width: 1cqi) {
  .cells { container-type: inline-size; display: grid; grid-template-columns: repeat(6, minmax(0, 1fr)); gap: .5rem; overflow: clip;
    overflow-clip-margin: 4px }
  .cells i { grid-row: 1; height: 3.25rem; border: 1px solid var(--field); border-radius: .625rem }
${[1, 2, 3, 4, 5, 6].map((at) => `  .cells i:nth-of-type(${at}) { grid-column: ${at} }`).join('\n')}
  .cells .code { z-index: 1; grid-column: 1 / -1; grid-row: 1; width: calc(100% + 4rem); height: 3.25rem; border-color: transparent !important;
    background: none !important; outline: none !important; box-shadow: none !important; font-size: 1.5rem; letter-spacing: calc((100cqi + .5rem) / 6 - 1ch);
    padding: 0 0 0 calc(((100cqi - 2.5rem) / 6 - 1ch) / 2) !important }
  .cells .code:focus ~ i { border-color: var(--focus); box-shadow: 0 0 0 1px var(--focus) }
  .cells .code[aria-invalid=true] ~ i { border-color: var(--danger) }
}
`;

const parts = `
.account { display: flex; align-items: center; gap: .75rem; margin: 0 0 1.75rem; padding: .75rem 1rem; border: 1px solid var(--line); border-radius: .875rem }
.account .mark { width: 2.25rem; height: 2.25rem; border-radius: 50%; font-size: 1rem }
.account div { display: grid; min-width: 0 }
.account strong { font-size: .9375rem; font-weight: 600 }
.account a { justify-self: start; display: inline-flex; align-items: center; min-height: 2.75rem; margin-bottom: -.625rem; font-size: .875rem }
.parties { display: flex; align-items: center; justify-content: center; gap: .75rem }
.parties .mark.client { background: var(--ground); border-color: var(--field); color: var(--text) }
.parties img.client { width: 3rem; height: 3rem; object-fit: contain }
.parties svg { width: 1.5rem; height: 1.5rem; color: var(--muted) }
.scopes { margin: 0; padding: 0; list-style: none }
.scopes li { display: flex; gap: .75rem; padding: .5rem 0 }
.scopes svg { flex: none; width: 1.25rem; height: 1.25rem; margin-top: .125rem; color: var(--done) }
.scopes code { color: var(--muted) }
article { padding: 1.25rem 0; border-top: 1px solid var(--line) }
article h2 { margin: 0 }
.message { margin: .75rem 0 0; white-space: pre-wrap }
.device-code { margin: 0 0 1.75rem; font-size: 1.75rem; font-weight: 600; letter-spacing: .1em; text-align: center }
.hint.after { margin: 1rem 0 0 }
@media (max-width: 30rem) {
  body { padding: 0; place-items: stretch; background: var(--ground) }
  main { max-width: none; padding: 2rem 1.25rem; border: 0; border-radius: 0; box-shadow: none }
}
@media (prefers-reduced-motion: reduce) { *, *::before, *::after { transition: none !important } }
@media (forced-colors: active) { .mark, .icon { border: 1px solid } }
`;

/**
 * Names and the questions of a form may be in any language. Each text has the direction of its own, so that it stays in order and does
 * not reorder what is around it, and stands where the direction of the page puts it.
 */
const directions = `
p, h1, h2, label, legend, summary, strong, code, input, textarea { unicode-bidi: plaintext; text-align: -webkit-match-parent;
  text-align: match-parent }
`;

/** The complete style of a page. The allowed part of the brand's own CSS comes last. */
export function styleOf(look: Look): string {
  return `:root { --font: ${fontsOf(look)} }${colorsOf(look)}${directions}${page}${forms}${cells}${parts}${safeCss(look.custom_css)}`;
}

/** The colours of the look's scheme, or of both if the visitor's system decides. */
function colorsOf(look: Look): string {
  const { light, dark } = schemesOf(look);
  const ofDark = variables('dark', dark, look);
  if (look.color_scheme === 'dark') return ofDark;
  const ofLight = variables('light', light, look);
  return look.color_scheme === 'light'
    ? ofLight
    : `${ofLight}@media (prefers-color-scheme: dark) { ${ofDark} }`;
}

function variables(scheme: 'light' | 'dark', colors: BrandColors, look: Look): string {
  const all = Object.entries(palette(colors)).map(([name, color]) => `--${name}: ${color}`);
  // A logo is drawn for the brand's own background, so it keeps that where the page has another.
  const isOther = colors.background_color !== look.background_color;
  const plate = isOther
    ? ` header img { padding: .5rem .75rem; border-radius: .625rem; background: ${look.background_color} }`
    : '';
  return `:root { ${[`color-scheme: ${scheme}`, ...all].join('; ')} }${plate}`;
}
