/** The style of the start page, in the colours that the system prefers. */
export const startStyle = `
:root { color-scheme: light dark; --ground: #fff; --backdrop: #f6f5fb; --text: #18181b; --muted: #57575f; --line: #e2e1ea;
  --accent: #6d28d9; --code: #f4f3f9; --good: #067647; --good-ground: #e6f4ed; --bad: #b42318; --bad-ground: #fdeceb }
@media (prefers-color-scheme: dark) { :root { --ground: #1a1920; --backdrop: #111015; --text: #f4f4f5; --muted: #a9a8b3; --line: #33323d;
  --accent: #b594f7; --code: #111015; --good: #75e0a7; --good-ground: #16291f; --bad: #fda29b; --bad-ground: #331d1c } }
*, *::before, *::after { box-sizing: border-box }
html { -webkit-text-size-adjust: 100% }
body { margin: 0; background: var(--backdrop); color: var(--text); overflow-wrap: anywhere;
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif }
main { max-width: 64rem; margin: 0 auto; padding: 3rem 1.25rem }
header { display: flex; flex-wrap: wrap; align-items: center; gap: 1rem; margin-bottom: 2.5rem }
header div { flex: 1 1 14rem }
.mark { display: grid; gap: 3px; flex: none; width: 3rem; height: 3rem; margin: 0; padding: .75rem; border-radius: .875rem; background: #6d28d9 }
.mark i { border-radius: 2px; background: #fff }
.mark i:nth-child(1) { margin-inline: 30% }
.mark i:nth-child(2) { margin-inline: 15% }
h1 { margin: 0; font-size: 1.75rem; font-weight: 650; line-height: 1.2; letter-spacing: -.02em }
h2 { margin: 0 0 1rem; font-size: 1.125rem; font-weight: 650 }
h3 { margin: 0; font-size: 1rem; font-weight: 600 }
p { margin: .25rem 0 0; color: var(--muted) }
a { color: var(--accent); text-underline-offset: .2em; text-decoration-thickness: 1px }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: .25rem }
.status { display: flex; align-items: center; gap: .5rem; margin: 0; padding: .375rem .875rem; border-radius: 2rem; background: var(--good-ground);
  color: var(--good); font-size: .875rem; font-weight: 600 }
.status::before { content: ""; width: .5rem; height: .5rem; flex: none; border-radius: 50%; background: currentColor }
.status.problem { background: var(--bad-ground); color: var(--bad) }
section { margin-bottom: 2.5rem }
.steps { display: grid; gap: 1.25rem; margin: 0; padding: 1.5rem; border: 1px solid var(--line); border-radius: 1rem; background: var(--ground);
  list-style: none; counter-reset: step }
.steps li { display: grid; grid-template-columns: 2.75rem minmax(0, 1fr); align-content: start; counter-increment: step }
.steps li > * { grid-column: 2 }
.steps li::before { content: counter(step); grid-column: 1; grid-row: 1 / span 3; display: grid; place-items: center; width: 1.75rem; height: 1.75rem;
  border: 1px solid var(--line); border-radius: 50%; color: var(--muted); font-size: .875rem; font-weight: 600 }
pre { margin: .75rem 0 0; padding: .75rem 1rem; overflow-x: auto; border-radius: .625rem; background: var(--code); overflow-wrap: normal }
pre, code { font: .875rem/1.6 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace }
.button { display: inline-flex; align-items: center; min-height: 2.75rem; margin-top: .5rem; padding: 0 1rem; border: 1px solid currentColor;
  border-radius: .625rem; font-size: .9375rem; font-weight: 600; text-decoration: none }
.services { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 19rem), 1fr)); gap: 1rem }
article { display: flex; flex-direction: column; padding: 1.25rem; border: 1px solid var(--line); border-radius: 1rem; background: var(--ground) }
article p { font-size: .9375rem }
article .base { margin-top: auto; padding-top: .75rem }
.links, footer p { display: flex; flex-wrap: wrap; column-gap: 1.25rem }
.links a, footer a { display: inline-flex; align-items: center; min-height: 2.75rem }
.links { margin-bottom: -.5rem }
footer { padding-top: 1.5rem; border-top: 1px solid var(--line) }
footer h2 { margin: 0; font-size: 1rem }
`;
