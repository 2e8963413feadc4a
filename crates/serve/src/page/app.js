// Instant search: every key asks the server anew, and only the answer to what is typed now is ever shown.
// All text from the server or the address is put in as text, never as markup.

const API = 'api/v1'; // relative, as a proxy may have the page under a path
const PAUSE = 30; // ms between two requests: too short to notice, long enough to spare the server a held-down key
const TIMEOUT = 20_000; // ms after which a silent server counts as gone
const CONTEXT = matchMedia('(max-width: 34rem)').matches ? 120 : 240; // symbols asked for on each side of the match
const GROUP = 10; // digits or bases between two gaps
const SETTLED = 1000; // ms without a key after which a search is one to come back to
const LONGEST_WAIT = 16; // seconds between two attempts to reach a server that is gone

const EXAMPLES = [ // for indexes named pi
  ['14159', 'how it begins'],
  ['999999', 'six nines in a row'],
  ['140379', 'Einstein’s birthday'],
];

const page = {};
for (const element of document.querySelectorAll('[id]')) page[element.id] = element;

const state = {
  address: new URLSearchParams(), // what the address asks for
  loading: null, // promise of the indexes while they are on their way
  indexes: new Map(), // by name
  wanted: null, // {direction: 'from' | 'before', position}; position null: the first or the last occurrence
  shown: null, // {index, pattern, position} of the occurrence on the page
  missed: null, // direction in which nothing more was found
  ticket: 0, // number of the newest request; whatever comes with an older one is stale
  controller: null, // to cancel the request under way
  timer: 0,
  notBefore: 0, // performance.now() before which nothing may be sent
  failures: 0, // attempts to reach the server since it last answered
  entry: null, // the search that the newest entry of the history is for
  isSettled: false, // whether the next search gets an entry of its own, so that Back comes back to this one
  settling: 0, // timer of isSettled
};

class Problem extends Error {
  constructor(message, status = 0, retryAfter = 0) { // status 0: no answer at all; retryAfter in seconds
    super(message);
    Object.assign(this, { status, retryAfter });
  }
}

// ---- Asking the server

async function ask(path, parameters, controller) {
  const timer = setTimeout(() => controller.abort(), TIMEOUT);
  try {
    const response = await fetch(API + path + queryString(parameters), { signal: controller.signal });
    if (response.ok) return await response.json();
    const problem = await response.json().catch(() => ({})); // a proxy may answer with anything
    throw new Problem(problem.detail || problem.title || `The server answered with status ${response.status}.`,
      response.status, Number(response.headers.get('Retry-After')) || 1);
  } catch (error) {
    throw error instanceof Problem ? error : new Problem('The server cannot be reached.');
  } finally {
    clearTimeout(timer);
  }
}

// Not URLSearchParams: that writes a space as "+", which not every reader takes for one.
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
  // What was found in another index would not be what the address promises.
  if (name && !state.indexes.has(name)) throw new Problem(`There is no index “${shortened(name)}” here; choose another.`, 404);
}

// ---- Requests

function request(direction, position) {
  state.wanted = { direction, position };
  schedule();
}

function schedule() {
  const ticket = ++state.ticket;
  clearTimeout(state.timer);
  state.controller?.abort();
  const wait = state.notBefore - performance.now();
  if (wait <= PAUSE) document.body.dataset.state = 'busy'; // else the message about the wait stays
  if (wait <= 0 || !page.query.value) run(ticket); // an empty field needs no server
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
    const answer = await ask(`/${encodeURIComponent(index.name)}/search`, parameters, controller);
    state.failures = 0;
    if (ticket === state.ticket) showAnswer(index, pattern, { ...wanted, position }, answer);
  } catch (problem) {
    if (ticket === state.ticket) showProblem(problem, ticket);
  }
}

// Next or previous. Past the last occurrence it goes on with the first, but only when asked for once more.
function step(direction) {
  if (!page.query.value || document.body.dataset.state === 'busy') return; // held-down Enter must not starve itself
  settle();
  if (state.missed === direction || !isShown()) return request(direction, null);
  request(direction, state.shown.position + (direction === 'from' ? 1 : 0));
}

// Is the occurrence on the page one of what is typed?
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
  page.count.replaceChildren(...grouped(String(answer.count), 3));
  if (answer.position !== null) {
    showOccurrence(index, answer);
    state.shown = { index: index.name, pattern, position: answer.position };
    state.missed = null;
    show('result');
    setAddress({ index: index.name, q: pattern, from: answer.position });
    const line = answer.line === null ? '' : `, line ${answer.line}, column ${answer.column}`;
    return finish('ready', `Position ${answer.position}${line}. Occurrences: ${answer.count}`);
  }

  if (!isShown() || answer.count === 0) { // else the last occurrence stays, with a word that it is the last
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

  page.position.replaceChildren(...grouped(String(answer.position), 3));
  page.line.textContent = answer.line === null ? '' : `${answer.line}:${answer.column}`;

  const isCut = end < first + symbols;
  // What follows each part: a carriage return is an end of line only in front of a line feed. Of a cut line it may be one.
  const next = { before: answer.match, match: answer.after || (isCut ? '\n' : ''), after: isCut ? '\n' : '' };
  let offset = start - first; // groups end at multiples of their size, wherever the text shown begins
  // The gap in front of an incomplete first group keeps the columns straight.
  page.before.style.paddingLeft = isBytes ? '' : `${offset % GROUP}ch`;
  for (const part of ['before', 'match', 'after']) {
    const text = answer[part];
    page[part].replaceChildren(...(isBytes ? visible(text, next[part]) : grouped(text, GROUP, offset)));
    offset += text.length;
  }
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
  show(isShown() ? 'result' : 'message'); // an answer to something else would be misleading
  page.query.setAttribute('aria-invalid', String(problem.status === 400));
  const isBusy = problem.status === 429 || problem.status === 503;
  const isGone = problem.status === 0 || problem.status === 502 || problem.status === 504; // the last two are a proxy's
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

// What is visible beneath the form: 'welcome', 'result' (with or without an occurrence), or nothing but the message.
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
  // Spoken only when the typing pauses, and without the separators that would be read as several numbers.
  clearTimeout(finish.timer);
  finish.timer = setTimeout(() => { page.announcement.textContent = words.replaceAll('\u202f', ''); }, 500);
}

function setMessage(text, label, action) {
  const focused = page.message.contains(document.activeElement);
  page.message.replaceChildren(text);
  page.message.hidden = !text;
  if (label) page.message.append(' ', button(label, action));
  if (focused) (page.result.hidden ? page.query : page.next).focus(); // its button is gone
}

// The address of what is shown. Occurrences of one search share an entry of the history, and so does what is typed in one go.
function setAddress(parameters) {
  page.permalink.href = location.pathname + queryString(parameters);
  const entry = queryString({ index: parameters.index, q: parameters.q ?? '' });
  const isNew = state.isSettled && entry !== state.entry;
  try {
    history[isNew ? 'pushState' : 'replaceState'](null, '', page.permalink.href);
  } catch {
    // Some browsers allow only so many changes in a while; the link on the page is right all the same.
  }
  if (entry !== state.entry) {
    state.isSettled = state.entry === null; // a search that came with the address is one to come back to
    clearTimeout(state.settling);
    state.settling = setTimeout(settle, SETTLED);
  }
  state.entry = entry;
}

// The search that is shown is one to come back to.
function settle() {
  clearTimeout(state.settling);
  state.isSettled = true;
}

// Searches for what the address asks for: at the start, and after Back or Forward.
function followAddress(event) {
  state.entry = null;
  state.isSettled = false;
  const address = state.address = new URLSearchParams(location.search);
  const name = address.get('index');
  if (state.indexes.has(name)) {
    page.index.value = name;
    describeIndex();
  }
  // What was typed before this script was there stays.
  if (event || address.has('q')) page.query.value = address.get('q') ?? '';
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
  } catch { // without https there is no clipboard object
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

// The text in spans of `size` symbols, for the style sheet to set apart: what is copied has no gaps. `offset` is the
// number of symbols in front of it; by default the last group is a full one. Lines may break only behind full groups.
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

// Text with an escape sequence, as programmers write it, beside every character that cannot be seen or that changes the
// direction of its neighbours. `next` is the text behind it: the carriage return of an end of line needs none.
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
  return number.toLocaleString('en').replaceAll(',', '\u202f');
}

function shortened(text) {
  return text.length > 48 ? `${text.slice(0, 48)}…` : text;
}

// ---- Events

function onKey(event) {
  const { target } = event;
  if (event.isComposing || event.ctrlKey || event.altKey || event.metaKey || target === page.index) return;
  const inField = target === page.query;
  // Enter presses a button that has the focus. On the two that search, it also goes back with Shift.
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
  page.form.addEventListener('submit', event => { // some phones submit without telling of a key
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
