import { createHash } from 'node:crypto'
import type { AnyEndpoint } from '../api/endpoint.ts'
import type { Fields, JsonSchema } from '../api/fields.ts'
import { LABELS } from '../labels.ts'
import { channelSections, type Section } from './channels.ts'
import { EXAMPLE_URL, curlOf, exampleOf } from './example.ts'
import { escape } from './escape.ts'
import type { Described } from './openapi.ts'
import { STYLE } from './style.ts'

/** Pages for people, rendered on the server from the declarations; no file, font or script from elsewhere. */
const page = (title: string, body: string): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(title)}</title><style>${STYLE}</style></head><body>${body}</body></html>`

/** `tries`: the console has a page on which each call can be tried. */
export function referencePage(surfaces: readonly Described[], version: string, tries: boolean): string {
  const [trading, ...others] = surfaces.map(({ prefix, list }) => sectionsOf(prefix, list, tries))
  const sections = [...trading!, ...channelSections(), ...others.flat()]
  const menu = sections
    .map(({ id, title, articles }) => `<a href="#${id}">${escape(title)}<span>${articles.length}</span></a>`)
    .join('')
  const body = sections
    .map(
      ({ id, title, intro = '', articles }) =>
        `<section id="${id}"><h2>${escape(title)}</h2>${intro}${articles.join('')}</section>`,
    )
    .join('')
  return page(
    'Kontor reference',
    `<nav><h1><a href="/">Kontor</a> <small>${escape(version)}</small></h1>
<input id="filter" type="search" placeholder="Filter: withdrawals, POST, spot.trades …" aria-label="Filter endpoints">
<a href="#signing">Signing</a><a href="#conventions">Conventions</a><a href="#labels">Labels</a>${menu}</nav>
<main>${SIGNING}${CONVENTIONS}${body}${labels()}</main><script>${SCRIPT}</script>`,
  )
}

function sectionsOf(prefix: string, endpoints: readonly AnyEndpoint[], tries: boolean): Section[] {
  const sections = new Map<string, { id: string; title: string; articles: string[] }>()
  for (const endpoint of endpoints) {
    const group = endpoint.path.split('/')[1]!
    const name = prefix === '/api/v4' ? group : `${prefix.split('/')[1]!}: ${group}`
    const id = name.replace(/\W+/g, '-')
    const section = sections.get(name) ?? { id, title: name.replaceAll('_', ' '), articles: [] }
    section.articles.push(article(prefix, endpoint, tries))
    sections.set(name, section)
  }
  return [...sections.values()]
}

function article(prefix: string, endpoint: AnyEndpoint, tries: boolean): string {
  const { method, path, summary, access, limit } = endpoint
  const id = `${method}-${prefix}${path}`.replace(/[^\w]+/g, '-')
  const facts = [accessText(access)]
  if (limit !== null) facts.push(`${limit.requests} requests in ${limit.seconds} s by ${limit.basis}`)
  if (endpoint.sandboxOnly === true) facts.push('sandbox only')
  if (endpoint.guarded !== undefined)
    facts.push(`two people in live mode (${endpoint.guarded.role}): answers 202 with a proposal`)
  return `<article id="${id}" data-text="${escape(`${method} ${path} ${summary}`.toLowerCase())}">
<h3><a href="#${id}"><b class="${method}">${method}</b> ${escape(prefix + path)}</a></h3>
<p>${escape(summary)}.</p><p class="facts">${facts.map((fact) => `<span>${escape(fact)}</span>`).join('')}</p>
${fieldsTable('In the path', endpoint.params as Fields | undefined)}${fieldsTable('In the query', endpoint.query as Fields | undefined)}
${endpoint.body === undefined ? '' : schemaBlock('Body', endpoint.body.schema)}
<p>Answers <code>${endpoint.status}</code>${endpoint.reply === null ? ' without a body' : ''}.</p>
${endpoint.reply === null ? '' : schemaBlock('Reply', endpoint.reply)}
${endpoint.refuses.length === 0 ? '' : `<p>Refuses with ${endpoint.refuses.map((label) => `<a href="#labels"><code>${label}</code></a>`).join(' ')}</p>`}
${exampleBlock(prefix, endpoint)}${tries ? `<p><a href="/lab/try?call=${encodeURIComponent(`${method} ${prefix}${path}`)}">Try it</a></p>` : ''}</article>`
}
/** As a test had it: the request to copy, and what came back. */
function exampleBlock(prefix: string, endpoint: AnyEndpoint): string {
  const example = exampleOf(`${endpoint.method} ${prefix}${endpoint.path}`)
  if (example === undefined) return ''
  const reply =
    example.reply === undefined
      ? ''
      : `<p>${example.status}</p><pre>${escape(JSON.stringify(example.reply, null, 1))}</pre>`
  return `<details><summary>Example</summary><pre class="curl">${escape(curlOf(endpoint, example))}</pre>${reply}</details>`
}
function accessText(access: AnyEndpoint['access']): string {
  switch (access.kind) {
    case 'public':
      return 'public'
    case 'key':
      return `signed, permission ${access.permission}${access.main ? ', main account only' : ''}`
    case 'operator':
      return `operator token, role ${access.role}`
    case 'session':
      return `session of ${access.subject === 'either' ? 'an account or an operator' : `an ${access.subject}`}`
  }
}

function fieldsTable(title: string, fields: Fields | undefined): string {
  const entries = Object.entries(fields ?? {})
  if (entries.length === 0) return ''
  return rowsTable(
    title,
    entries.map(([name, { schema, required }]) => [name, schema, required]),
  )
}
function rowsTable(title: string, rows: readonly (readonly [string, JsonSchema, boolean])[]): string {
  const cells = rows
    .map(
      ([name, schema, required]) =>
        `<tr><td><code>${escape(name)}</code></td><td>${escape(typeText(schema))}</td><td>${required ? 'required' : 'optional'}</td><td>${escape(ruleText(schema))}</td></tr>`,
    )
    .join('')
  return `<table><caption>${escape(title)}</caption>${cells}</table>`
}
/** An object is shown as a table of its members, one level deep; anything else in a line. */
function schemaBlock(title: string, schema: JsonSchema): string {
  const items = schema['type'] === 'array' ? (schema['items'] as JsonSchema) : schema
  const properties = items['properties'] as Record<string, JsonSchema> | undefined
  if (properties === undefined) return `<p>${escape(title)}: ${escape(typeText(schema))}</p>`
  const required = (items['required'] ?? []) as string[]
  const rows = Object.entries(properties).map(
    ([name, member]) => [name, member, required.includes(name)] as const,
  )
  return rowsTable(items === schema ? title : `${title}: an array of`, rows)
}
function typeText(schema: JsonSchema): string {
  const anyOf = schema['anyOf'] as JsonSchema[] | undefined
  if (anyOf !== undefined) return anyOf.map(typeText).join(' or ')
  if (schema['type'] === 'array') return `array of ${typeText(schema['items'] as JsonSchema)}`
  if (schema['type'] === 'object') {
    const properties = schema['properties'] as Record<string, JsonSchema> | undefined
    if (properties !== undefined) return `{ ${Object.keys(properties).join(', ')} }`
    const values = schema['additionalProperties']
    return typeof values === 'object' ? `object of ${typeText(values as JsonSchema)}` : 'object'
  }
  if (schema['format'] === 'decimal') return 'decimal string'
  return typeof schema['type'] === 'string' ? schema['type'] : 'any'
}
function ruleText(schema: JsonSchema): string {
  const rules: string[] = []
  if (Array.isArray(schema['enum'])) rules.push(`one of ${schema['enum'].join(', ')}`)
  if (schema['minimum'] !== undefined)
    rules.push(`${JSON.stringify(schema['minimum'])} to ${JSON.stringify(schema['maximum'])}`)
  if (typeof schema['pattern'] === 'string') rules.push(schema['pattern'])
  if (schema['default'] !== undefined) rules.push(`default ${JSON.stringify(schema['default'])}`)
  if (typeof schema['description'] === 'string') rules.push(schema['description'])
  if (Array.isArray(schema['examples'])) rules.push(`such as ${String(schema['examples'][0])}`)
  return rules.join('; ')
}

const labels = (): string =>
  `<section id="labels"><h2>Labels</h2><p>Every refusal is <code>{"label", "message"}</code>. Branch on the label; the message is for people.</p>
<table>${Object.entries(LABELS)
    .map(([label, status]) => `<tr><td><code>${label}</code></td><td>${status}</td></tr>`)
    .join('')}</table></section>`

const SIGNING = `<section id="signing"><h2>Signing</h2>
<p>A private call carries three headers: <code>KEY</code>, <code>Timestamp</code> (Unix seconds, decimals allowed, within 60 s of the
platform's clock) and <code>SIGN</code>: the lowercase hex HMAC-SHA512, keyed with the secret, of five lines joined by newlines.</p>
<pre>METHOD
/api/v4/path
query as in the URL, or decoded; empty when there is none
hex SHA-512 of the body, or of nothing
Timestamp</pre>
<p>In sandbox mode a wrong signature is answered with the text that the server would have signed.</p></section>`

const CONVENTIONS = `<section id="conventions"><h2>Conventions</h2>
<p>Amounts and prices are decimal strings. Times are Unix seconds unless a field says otherwise; a 13-digit <code>from</code> or
<code>to</code> is read as milliseconds. Unknown parameters are ignored, and null counts as absent. Names of currencies, pairs,
chains and settle currencies are matched without regard to case. Lists by offset send <code>X-Pagination-Limit</code>,
<code>-Offset</code> and <code>-Total</code>. Each response tells what is left of its rate limit.</p>
<p>Prices have bounds: with <code>up_rate</code> 9 and <code>down_rate</code> 0.9 (<code>GET /spot/currency_pairs</code> tells those of each market) a buy is priced at
most ten times the last price and a sell at least a tenth of it; beyond, an order is refused with <code>PRICE_THRESHOLD_EXCEEDED</code>, and a market order
stops there.</p>
<p>Examples are real exchanges of this platform's tests; lists are cut to two. Operator calls want the token: <code>TOKEN=…</code>.</p></section>`

/** Nothing but what stands in the page itself, by its hash; and no page of others may frame it. */
export const contentPolicy = (): string =>
  `default-src 'none'; style-src '${hashOf(STYLE)}'; script-src '${hashOf(SCRIPT)}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`
const hashOf = (text: string): string => `sha256-${createHash('sha256').update(text).digest('base64')}`

const SCRIPT = `for (const pre of document.querySelectorAll('pre.curl'))
  pre.textContent = pre.textContent.replace('${EXAMPLE_URL}', location.origin)
const filter = document.getElementById('filter')
filter.addEventListener('input', () => {
  const words = filter.value.toLowerCase().split(/\\s+/).filter(Boolean)
  for (const article of document.querySelectorAll('article'))
    article.hidden = !words.every((word) => article.dataset.text.includes(word))
  for (const section of document.querySelectorAll('section'))
    section.hidden = words.length > 0 && !section.querySelector('article:not([hidden])')
})`
