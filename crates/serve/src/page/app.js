// Instant search: every key press sends a new request, and only the answer to the current input is shown.
// All text from the server or the address is inserted as text, never as markup.

const API = 'api/v1'; // relative, as a proxy may serve the page under a path
const PAUSE = 30; // ms between two requests: too short to notice, and limits the requests of a held-down key
const TIMEOUT = 20_000; // ms without a response after which the server counts as unreachable
const CONTEXT = matchMedia('(max-width: 34rem)').matches ? 120 : 240; // symbols requested on each side of the match
const GROUP = 10; // digits or bases between two gaps
const SETTLED = 1000; // ms without a key press after which a search keeps its entry in the history
const LONGEST_WAIT = 16; // maximum seconds between two attempts to reach an unreachable server

const EXAMPLES = [ // for indexes named pi
  ['14159', 'how it begins'],
  ['999999', 'six nines in a row'],
  ['140379', 'Einstein’s birthday'],
];

const page = {};
for (const element of document.querySelectorAll('[id]')) page[element.id] = element;

const state = {
  address: new URLSearchParams(), // parameters of the address
  loading: null, // promise of the indexes while they are loading
  indexes: new Map(), // by name
  wanted: null, // {direction: 'from' | 'before', position}; position null: the first or the last occurrence
  shown: null, // {index, pattern, position} of the occurrence on the page
  missed: null, // direction in which nothing more was found
  ticket: 0, // number of the newest request; responses to older ones are stale
  controller: null, // to cancel the request in flight
  timer: 0,
  notBefore: 0, // performance.now() before which no request may be sent
  failures: 0, // failed requests since the server last answered
  entry: null, // search of the newest entry in the history
  isSettled: false, // whether the next search gets a new entry in the history, so that Back returns to this one
  settling: 0, // timer of isSettled
};

class Problem extends Error {
  constructor(message, status = 0, retryAfter = 0) { // status 0: no response; retryAfter in seconds
    super(message);
    Object.assign(this, { status, retryAfter });
  }
}

// ---- Requests to the server

async function ask(path, parameters, controller) {
  const timer = setTimeout(() => controller.abort(), TIMEOUT);
  try {
    const response = await fetch(API + path + queryString(parameters), { signal: controller.signal });
    if (response.ok) return await response.json();
    const problem = await response.json().catch(() => ({})); // a proxy may answer with other content
    throw new Problem(problem.detail || problem.title || `The server answered with status ${response.status}.`,
      response.status, Number(response.headers.get('Retry-After')) || 1);
  } catch (error) {
    throw error instanceof Problem ? error : new Problem('The server cannot be reached.');
  } finally {
    clearTimeout(timer);
  }
}

// URLSearchParams would encode a space as "+", which not every reader decodes.
function queryString(parameters) {
  const pairs = Object.entries(parameters).filter(([, value]) => value !== null);
  return pairs.length ? '?' + pairs.map(pair => pair.map(encodeURIComponent).join('=')).join('&') : '';
}

async function loadIndexes() {
  const { indexes } = await ask('/indexes', {}, new AbortController());
  state.indexes = new Map(indexes.map(index => [index.name, index]));
  if (!indexes.length) throw new Problem('This server has no index to search in.', 404);
  page.index.replaceChildren(...indexes.map(({ name }) => new Option(name, name)));

  const name = state.address.get('index');
  state.address.delete('index');
  if (state.indexes.has(name)) page.index.value = name;
  describeIndex();
  // A result from a different index would contradict the address.
  if (name && !state.indexes.has(name)) throw new Problem(`There is no index “${shortened(name)}” here; choose another.`, 404);
}

// ---- Scheduling of searches

function request(direction, position) {
  state.wanted = { direction, position };
  schedule();
}

function schedule() {
  const ticket = ++state.ticket;
  clearTimeout(state.timer);
  state.controller?.abort();
  const wait = state.notBefore - performance.now();
  if (wait <= PAUSE) document.body.dataset.state = 'busy'; // otherwise the message about the wait stays
  if (wait <= 0 || !page.query.value) run(ticket); // an empty field needs no request
  else state.timer = setTimeout(run, wait, ticket);
}

async function run(ticket) {
  document.body.dataset.state = 'busy';
  const controller = state.controller = new AbortController();
  const wanted = state.wanted;
  try {
    if (!state.indexes.size) await (state.loading ??= loadIndexes().finally(() => { state.loading = null; }));
    if (ticket !== state.ticket) return;
    state.failures = 0;
    const pattern = page.query.value;
    if (!pattern) return showWelcome();
    const index = state.indexes.get(page.index.value);
    const end = index.first_position + index.symbols;
    const position = wanted.position ?? (wanted.direction === 'from' ? index.first_position : end);
    const parameters = { q: pattern, [wanted.direction]: position, context: CONTEXT };
    state.notBefore = performance.now() + PAUSE;
    const start = performance.now();
    const answer = await ask(`/${encodeURIComponent(index.name)}/search`, parameters, controller);
    answer.took = performance.now() - start;
    state.failures = 0;
    if (ticket === state.ticket) showAnswer(index, pattern, { ...wanted, position }, answer);
  } catch (problem) {
    if (ticket === state.ticket) showProblem(problem, ticket);
  }
}

// Next or previous occurrence. Wraps around past the last one, but only on a second press.
function step(direction) {
  if (!page.query.value || document.body.dataset.state === 'busy') return; // a held-down Enter must not cancel its own requests
  settle();
  if (state.missed === direction || !isShown()) return request(direction, null);
  request(direction, state.shown.position + (direction === 'from' ? 1 : 0));
}

// Returns true if the occurrence on the page is one of the current input.
function isShown() {
  return state.shown?.index === page.index.value && state.shown.pattern === page.query.value;
}

// ---- Showing answers

function showWelcome() {
  const index = state.indexes.get(page.index.value);
  page.hint.textContent = {
    digits: 'Type a number: a birthday, a telephone number, your favourite.',
    dna: 'Type a sequence, such as GATTACA.',
  }[index.alphabet] ?? 'Type a word, a name or a part of a line.';
  page.examples.hidden = !(index.alphabet === 'digits' && index.name.toLowerCase() === 'pi');
  state.shown = state.missed = null;
  show('welcome');
  setAddress({ index: index.name });
  finish('ready', '');
}

function showAnswer(index, pattern, wanted, answer) {
  const { direction, position } = wanted;
  page.count.textContent = formatted(answer.count);
  page.took.textContent = duration(answer.took);
  if (answer.position !== null) {
    showOccurrence(index, answer);
    state.shown = { index: index.name, pattern, position: answer.position };
    state.missed = null;
    show('result');
    setAddress({ index: index.name, q: pattern, from: answer.position });
    const line = answer.line === null ? '' : `, line ${answer.line}, column ${answer.column}`;
    return finish('ready', `Position ${answer.position}${line}. Occurrences: ${answer.count}`);
  }

  if (!isShown() || answer.count === 0) { // otherwise the last occurrence stays, with a note that it is the last
    state.shown = null;
    setAddress({ index: index.name, q: pattern, [direction]: position });
  }
  state.missed = direction;
  show(answer.count > 0 ? 'result' : 'message');
  showMissing(index, pattern, wanted, answer.count);
  finish('ready', page.message.textContent);
}

function showOccurrence(index, answer) {
  const { first_position: first, symbols, alphabet } = index;
  const isBytes = alphabet !== 'digits' && alphabet !== 'dna';
  const start = answer.position - byteLength(answer.before);
  const end = answer.position + byteLength(answer.match + answer.after);

  page.position.textContent = formatted(answer.position);
  page.line.textContent = answer.line === null ? '' : `${answer.line}:${answer.column}`;

  const isCut = end < first + symbols;
  // Text that follows each part: a carriage return ends a line only before a line feed. At the end of a truncated line it may.
  const next = { before: answer.match, match: answer.after || (isCut ? '\n' : ''), after: isCut ? '\n' : '' };
  let offset = start - first; // groups end at multiples of their size, for any start of the visible text
  // The gap before an incomplete first group keeps the columns aligned.
  page.before.style.paddingLeft = isBytes ? '' : `${offset % GROUP}ch`;
  for (const part of ['before', 'match', 'after']) {
    const text = answer[part];
    page[part].replaceChildren(...(isBytes ? visible(text, next[part]) : grouped(text, GROUP, offset)));
    offset += text.length;
  }
  // The mark has no gaps, as the pattern has none. They follow it, so that the columns stay aligned.
  page.match.style.marginRight = `${page.match.querySelectorAll('.group').length}ch`;
  page.context.classList.toggle('cut-before', start > first);
  page.context.classList.toggle('cut-after', isCut);
}

function showMissing(index, pattern, { direction, position }, count) {
  const what = `“${shortened(pattern)}” does not occur `;
  if (count === 0) return setMessage(`${what}in ${index.name}.`);
  const where = direction === 'from' ? `after position ${formatted(position - 1)}` : `before position ${formatted(position)}`;
  setMessage(`${what}${where}; it occurs ${count === 1 ? 'only once' : `${formatted(count)} times in all`}.`,
    direction === 'from' ? 'From the start' : 'From the end', () => request(direction, null));
}

function showProblem(problem, ticket) {
  show(isShown() ? 'result' : 'message'); // the answer to another search would be misleading
  page.query.setAttribute('aria-invalid', String(problem.status === 400));
  const isBusy = problem.status === 429 || problem.status === 503;
  const isGone = problem.status === 0 || problem.status === 502 || problem.status === 504; // 502 and 504 come from a proxy
  if (isGone) state.failures += 1;
  const wait = isBusy ? problem.retryAfter : Math.min(2 ** (state.failures - 1), LONGEST_WAIT);
  const attempt = `Trying again in ${wait} ${wait === 1 ? 'second' : 'seconds'}.`;
  if (isBusy) {
    setMessage(`The server has too much to do just now. ${attempt}`);
    state.notBefore = performance.now() + wait * 1000;
    state.timer = setTimeout(run, wait * 1000, ticket);
  } else if (isGone) {
    setMessage(`The server cannot be reached. ${attempt}`, 'Try again', schedule);
    state.timer = setTimeout(run, wait * 1000, ticket);
  } else if (problem.status >= 500) {
    setMessage(problem.message, 'Try again', schedule);
  } else {
    setMessage(problem.message);
  }
  finish('error', page.message.textContent);
}

// ---- Parts of the page

// Shows one part below the form: 'welcome', 'result' (with or without an occurrence), or only the message.
function show(what) {
  page.welcome.hidden = what !== 'welcome';
  page.result.hidden = what !== 'result';
  for (const id of ['context', 'position-fact', 'position-note']) page[id].hidden = state.shown === null;
  page['line-fact'].hidden = state.shown === null || !page.line.textContent;
  page.query.removeAttribute('aria-invalid');
  setMessage('');
}

function finish(outcome, words) {
  document.title = page.query.value ? `${shortened(page.query.value)} in ${page.index.value} · comb` : 'comb: search as you type';
  document.body.dataset.state = outcome;
  // Announced only when typing pauses, and without separators, which screen readers would read as several numbers.
  clearTimeout(finish.timer);
  finish.timer = setTimeout(() => { page.announcement.textContent = words.replace(/(?<=\d),(?=\d{3})/g, ''); }, 500);
}

function setMessage(text, label, action) {
  const focused = page.message.contains(document.activeElement);
  page.message.replaceChildren(text);
  page.message.hidden = !text;
  if (label) page.message.append(' ', button(label, action));
  if (focused) (page.result.hidden ? page.query : page.next).focus(); // the focused button is hidden now
}

// Sets the address of the visible result. Occurrences of one search share an entry in the history, as do searches typed
// without a pause.
function setAddress(parameters) {
  page.permalink.href = location.pathname + queryString(parameters);
  const entry = queryString({ index: parameters.index, q: parameters.q ?? '' });
  const isNew = state.isSettled && entry !== state.entry;
  try {
    history[isNew ? 'pushState' : 'replaceState'](null, '', page.permalink.href);
  } catch {
    // Some browsers limit the rate of changes; the link on the page is correct anyway.
  }
  if (entry !== state.entry) {
    state.isSettled = state.entry === null; // a search from the address keeps its entry
    clearTimeout(state.settling);
    state.settling = setTimeout(settle, SETTLED);
  }
  state.entry = entry;
}

// Makes the visible search keep its entry in the history.
function settle() {
  clearTimeout(state.settling);
  state.isSettled = true;
}

// Runs the search of the address: at the start, and after Back or Forward.
function followAddress(event) {
  state.entry = null;
  state.isSettled = false;
  const address = state.address = new URLSearchParams(location.search);
  const name = address.get('index');
  if (state.indexes.has(name)) {
    page.index.value = name;
    describeIndex();
  }
  // Keeps input typed before this script was loaded.
  if (event || address.has('q')) {
    const { length } = page.query.value = address.get('q') ?? '';
    page.query.setSelectionRange(length, length); // the caret stands before a text that the page came with
  }
  const direction = address.has('before') ? 'before' : 'from';
  const position = parseInt(address.get(direction), 10);
  request(direction, position >= 0 ? position : null);
}

function describeIndex() {
  const { name, alphabet, symbols, first_position: first } = state.indexes.get(page.index.value);
  const unit = { digits: 'digits', dna: 'bases' }[alphabet] ?? 'bytes';
  page.summary.textContent = `${formatted(symbols)} ${unit} of ${name}`;
  page['position-note'].textContent = first === 1 && alphabet === 'digits'
    ? '(counting from the first digit after the point)' : `(counting ${unit} from ${first})`;
  page.query.inputMode = alphabet === 'digits' ? 'numeric' : 'text';
}

async function copyLink() {
  let copied = true;
  try {
    await navigator.clipboard.writeText(page.permalink.href);
  } catch { // without HTTPS there is no clipboard object
    const field = document.body.appendChild(Object.assign(element('input'), { value: page.permalink.href }));
    field.select();
    copied = document.execCommand('copy');
    field.remove();
    page.copy.focus();
  }
  page.copy.textContent = page.announcement.textContent = copied ? 'Link copied' : 'Not copied';
  setTimeout(() => { page.copy.textContent = 'Copy link'; }, 2000);
}

// ---- Text

// Splits text into spans of `size` symbols, which the style sheet separates, so that copied text has no gaps. `offset` is the
// number of symbols before the text; by default the last group is full. Lines may break only after full groups.
function grouped(text, size, offset = size - text.length % size) {
  const parts = [];
  for (let start = 0; start < text.length;) {
    const end = start + size - (offset + start) % size;
    const group = element('span', text.slice(start, end));
    parts.push(group);
    if (end <= text.length) {
      group.className = 'group';
      parts.push(element('wbr'));
    }
    start = end;
  }
  return parts;
}

// Adds an escape sequence, as in source code, to every character that is invisible or changes the direction of its
// neighbours. `next` is the text that follows: a carriage return before a line feed needs no escape.
function visible(text, next) {
  if (text.endsWith('\r') && next.startsWith('\n')) return [...visible(text.slice(0, -1), ''), document.createTextNode('\r')];
  const hidden = /([\0-\x09\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]|\r(?!\n))/u;
  return text.split(hidden).map((part, i) => {
    if (i % 2 === 0) return document.createTextNode(part);
    const code = part.codePointAt(0);
    const span = element('span', part);
    span.className = part === '\t' ? 'tab' : 'control';
    const hex = code.toString(16).padStart(2, '0');
    span.dataset.name = part === '\r' ? '\\r' : code < 0x80 ? `\\x${hex}` : `\\u{${hex}}`;
    return span;
  });
}

function element(name, text = '') {
  return Object.assign(document.createElement(name), { textContent: text });
}

function button(label, action) {
  const made = Object.assign(element('button', label), { type: 'button' });
  made.addEventListener('click', action);
  return made;
}

function byteLength(text) {
  return new TextEncoder().encode(text).length;
}

function formatted(number) {
  return number.toLocaleString('en');
}

// Milliseconds with two digits.
function duration(milliseconds) {
  return `${milliseconds.toLocaleString('en', { maximumSignificantDigits: 2 })} ms`;
}

function shortened(text) {
  return text.length > 48 ? `${text.slice(0, 48)}…` : text;
}

// ---- Events

function onKey(event) {
  const { target } = event;
  if (event.isComposing || event.ctrlKey || event.altKey || event.metaKey || target === page.index) return;
  const inField = target === page.query;
  // Enter presses the focused button. On the two search buttons, Shift+Enter searches backward.
  const isFree = inField || target === document.body || (event.shiftKey && (target === page.next || target === page.previous));
  if (event.key === '/' && !inField) {
    page.query.focus();
    page.query.select();
  } else if (event.key === 'Enter' && isFree) {
    step(event.shiftKey ? 'before' : 'from');
  } else if (event.key === 'Escape' && page.query.value) {
    type('');
  } else {
    return;
  }
  event.preventDefault();
}

function type(text) {
  settle();
  page.query.value = text;
  page.query.focus();
  request('from', null);
}

function start() {
  for (const [pattern, note] of EXAMPLES) {
    const example = button(pattern, () => type(pattern));
    example.append(element('span', note));
    page.examples.appendChild(element('li')).append(example);
  }
  page.query.addEventListener('input', () => request('from', null));
  page.query.addEventListener('change', settle);
  page.index.addEventListener('change', () => {
    settle();
    if (state.indexes.size) describeIndex();
    request('from', null);
  });
  page.form.addEventListener('submit', event => { // some phones submit without a key event
    event.preventDefault();
    step('from');
  });
  page.next.addEventListener('click', () => step('from'));
  page.previous.addEventListener('click', () => step('before'));
  page.copy.addEventListener('click', copyLink);
  document.addEventListener('keydown', onKey);
  addEventListener('online', schedule);
  addEventListener('popstate', followAddress);
  followAddress();
}

start();
