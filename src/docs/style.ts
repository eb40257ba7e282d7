/** The look of the pages: system fonts, both colour schemes, readable on a phone. */
export const STYLE = `
:root { color-scheme: light dark; --line: #8883; --soft: #8881; --accent: #0b6e99; --get: #1a7f37; --post: #0969da; --put: #9a6700; --delete: #cf222e; }
@media (prefers-color-scheme: dark) { :root { --accent: #62c0e4; --get: #3fb950; --post: #6cb0ff; --put: #d9a21f; --delete: #ff7b72; } }
* { box-sizing: border-box }
body { margin: 0; font: 15px/1.5 system-ui, sans-serif; display: flex; }
nav { width: 16rem; flex: none; height: 100vh; position: sticky; top: 0; overflow: auto; padding: 1rem; border-right: 1px solid var(--line); }
nav a { display: flex; justify-content: space-between; padding: .15rem .3rem; border-radius: 4px; }
nav a:hover { background: var(--soft) } nav a span { opacity: .7 }
nav h1 { font-size: 1.1rem; margin: 0 0 .6rem } nav h1 a { display: inline; padding: 0 }
nav input { width: 100%; margin-bottom: .6rem; padding: .35rem .5rem; font: inherit; }
main { flex: 1; min-width: 0; max-width: 62rem; padding: 1rem 2rem 4rem; }
main.narrow { max-width: 44rem; margin: 2rem auto }
a { color: inherit; text-decoration: none } main p a, .links a, li a { color: var(--accent); text-decoration: underline }
small { font-weight: normal; opacity: .7 }
h2 { margin: 2.2rem 0 .5rem; padding-bottom: .3rem; border-bottom: 2px solid var(--line); text-transform: capitalize }
article { margin: 1.2rem 0; padding: .8rem 1rem; border: 1px solid var(--line); border-radius: 8px; overflow-x: auto }
article h3 { margin: 0; font: 600 .95rem ui-monospace, monospace; overflow-wrap: anywhere }
article p { margin: .4rem 0 }
b.GET { color: var(--get) } b.POST { color: var(--post) } b.PUT, b.PATCH { color: var(--put) } b.DELETE { color: var(--delete) }
.facts span { display: inline-block; margin: 0 .4rem .2rem 0; padding: 0 .5rem; border-radius: 1rem; background: var(--soft); font-size: .85rem }
table { border-collapse: collapse; width: 100%; margin: .5rem 0; font-size: .9rem }
caption { text-align: left; font-weight: 600; padding: .2rem 0 }
td { border-top: 1px solid var(--line); padding: .2rem .6rem .2rem 0; vertical-align: top; overflow-wrap: anywhere }
code, pre { font-family: ui-monospace, monospace; font-size: .88em }
pre { padding: .7rem 1rem; background: var(--soft); border-radius: 6px; overflow-x: auto }
.links li { margin: .3rem 0 }
[hidden] { display: none }
@media (max-width: 50rem) {
body { display: block } main { padding: 1rem }
nav { position: static; width: auto; height: auto; max-height: 19rem; border-right: 0; border-bottom: 1px solid var(--line) }
nav > a { display: inline-flex; gap: .3rem; margin-right: .4rem }
tbody, tr { display: block } tr { border-top: 1px solid var(--line); padding: .2rem 0 } td { display: inline; border: 0; padding: 0 .4rem 0 0 }
td:first-child { font-weight: 600 }
pre { white-space: pre-wrap; overflow-wrap: anywhere }
}
`
