// Shows a running job: the server sends its whole state whenever it has changed, and nothing follows the last one.
// All text from the server is inserted as text, never as markup.

const EVENTS = 'events'; // relative, as a proxy may serve the page under a path
const LONGEST_WAIT = 16; // maximum seconds between two attempts to connect
const MAX_ROWS = 100; // rows of the table
const MAX_SPARKS = 48; // bars of a sparkline
const IDLE = new Set(['wait', 'park']); // phases without work, which the style sheet colours

const page = {};
for (const element of document.querySelectorAll('[id]')) page[element.id] = element;

const view = {
  retry: 0, // timer of the next attempt to connect; 0 unless the connection is lost
  failures: 0, // failed attempts since the last state
  state: null, // the last state
  received: 0, // performance.now() when it arrived
  columns: '', // columns of the table, to notice when they change
  shape: null, // buckets and counts of the chart
};

// ---- Connection

function connect() {
  clearTimeout(view.retry);
  view.retry = 0;
  const source = new EventSource(EVENTS);
  source.addEventListener('update', event => receive(event.data));
  source.addEventListener('end', event => {
    source.close(); // otherwise the browser would connect again
    receive(event.data);
  });
  source.addEventListener('error', () => {
    // Without a final state, the job may have been stopped, or the network is gone. The browser's own attempts would stop
    // after the first answer that is an error.
    source.close();
    view.failures += 1;
    const wait = Math.min(2 ** (view.failures - 1), LONGEST_WAIT);
    setStatus('lost', view.state ? 'connection lost' : 'no connection');
    setMessage([`The server cannot be reached; the job may have been stopped. Trying again in ${wait} s.`]);
    view.retry = setTimeout(connect, wait * 1000);
  });
}

function receive(text) {
  view.failures = 0;
  view.state = JSON.parse(text, exactly);
  view.received = performance.now();
  setMessage(view.state.problems);
  show(view.state);
}

// Keeps a number as text if the number would have other digits, such as a sum of 30 digits, or 1.50. Older browsers do not tell the text.
function exactly(key, value, context) {
  const text = context?.source;
  return typeof value === 'number' && text !== undefined && String(value) !== text ? text : value;
}

// ---- Parts of the page

function show(state) {
  const { status, command, answer, series, columns } = state;
  const words = { running: 'running', ended: 'ended', interrupted: 'interrupted; the counts are partial' };
  setStatus(status, words[status]);
  setText(page.command, command);
  setText(page.records, formatted(answer.records));
  showProgress(state);
  showTimeline(series);
  showTable(rowsOf(answer, series), answer, series, columns);
  showThreads(state);
  const isOver = status !== 'running';
  setText(page.end, isOver ? 'The job has ended, and its server with it. This page keeps the result until it is closed.' : '');
  document.title = `${isOver ? '' : '▸ '}${formatted(answer.records)} records · comb`;
}

function showProgress({ status, bytes, total_bytes: total, elapsed }) {
  const isOver = status !== 'running';
  setText(page.bytes, total && !isOver ? `${sized(bytes)} of ${sized(total)}` : sized(bytes));
  setText(page.speed, `${sized(bytes / Math.max(Number(elapsed), 1e-9))}/s`);
  showTime();
  const share = status === 'ended' ? 1 : total ? Math.min(bytes / total, 1) : 0;
  page.progress.dataset.known = String(Boolean(total));
  page.done.style.width = total ? `${100 * share}%` : '0';
  page.progress.setAttribute('aria-valuenow', Math.round(100 * share));
}

// The time goes on between two states.
function showTime() {
  const { elapsed, status } = view.state;
  const since = status === 'running' ? (performance.now() - view.received) / 1000 : 0;
  setText(page.time, clock(Number(elapsed) + since));
}

// ---- Counts by time

function showTimeline(series) {
  const counts = series ? totals(series) : [];
  page.timeline.hidden = !counts.length;
  view.shape = counts.length ? { buckets: series.buckets, counts } : null;
  if (!counts.length) return;
  const peak = Math.max(...counts, 1);
  page.bars.setAttribute('viewBox', `0 0 ${counts.length} 100`);
  page.bars.setAttribute('aria-label', `${counts.length} buckets, at most ${formatted(peak)}`);
  page.shape.setAttribute('d', bars(counts, peak, 100));
  page.pointer.setAttribute('height', 100);
  const name = series.keys ? 'Counts of these keys by time' : 'Counts by time';
  setText(page['timeline-name'], name);
  setText(page.peak, `max. ${formatted(peak)}`);
  setText(page.first, series.buckets[0]);
  setText(page.last, counts.length > 1 ? series.buckets.at(-1) : '');
}

// Counts of all keys by bucket.
function totals({ buckets, counts }) {
  return buckets.map((_, bucket) => counts.reduce((sum, ofKey) => sum + Number(ofKey[bucket]), 0));
}

// Path of a bar for each count, one unit wide and at most `height` high. Few bars have gaps between them.
function bars(counts, peak, height) {
  const gap = counts.length <= 150 ? 0.12 : 0;
  const bar = (count, at) => {
    // The least count can be seen, too.
    const top = height - Math.max(height * count / peak, height / 60);
    return count > 0 ? `M${at + gap} ${height}V${top.toFixed(2)}H${at + 1 - gap}V${height}Z` : '';
  };
  return counts.map((count, at) => bar(Number(count), at)).join('');
}

// At most MAX_SPARKS counts, each the sum of neighbours.
function joined(counts) {
  const size = Math.ceil(counts.length / MAX_SPARKS);
  const sums = Array(Math.ceil(counts.length / size) || 0).fill(0);
  counts.forEach((count, at) => { sums[Math.floor(at / size)] += Number(count); });
  return sums;
}

// Names the bucket under the pointer.
function point(event) {
  const { buckets, counts } = view.shape;
  const { left, width } = page.bars.getBoundingClientRect();
  const at = Math.max(0, Math.min(counts.length - 1, Math.floor((event.clientX - left) / width * counts.length)));
  page.pointer.setAttribute('x', at);
  page.pointer.style.visibility = 'visible';
  setText(page.pointed, `${buckets[at]}: ${formatted(counts[at])}`);
}

function leave() {
  page.pointer.style.visibility = 'hidden';
  setText(page.pointed, '');
}

// ---- Counts by key

// Rows of the table. Of buckets in the order of time, the latest come first.
function rowsOf(answer, series) {
  if (!series) return answer.top;
  if (series.keys) return series.keys.map((row, at) => ({ ...row, counts: series.counts[at] }));
  return answer.top.at(-1)?.key === series.buckets.at(-1) ? [...answer.top].reverse() : answer.top;
}

function showTable(rows, answer, series, { measures, key, sorted_by: criterion }) {
  const keys = series?.keys ? key.slice(1) : key;
  setColumns(series?.keys ? [] : measures, keys, Boolean(series?.keys));
  const shown = rows.slice(0, MAX_ROWS);
  while (page.rows.children.length > shown.length) page.rows.lastChild.remove();
  const measured = measures.includes(criterion) && !series?.keys ? criterion : 'count';
  const peak = Math.max(...shown.map(row => Math.abs(Number(row[measured])) || 0), 0);
  shown.forEach((row, at) => {
    const cells = (page.rows.children[at] ?? page.rows.appendChild(newRow(measures, keys, series))).children;
    setText(cells[0], formatted(row.count));
    setText(cells[1], answer.records > 0 ? `${(100 * row.count / answer.records).toFixed(1)} %` : '');
    if (row.counts) {
      const sums = joined(row.counts);
      cells[2].firstChild.setAttribute('viewBox', `0 0 ${Math.max(sums.length, 1)} 20`);
      cells[2].firstChild.firstChild.setAttribute('d', bars(sums, Math.max(...sums, 1), 20));
    } else {
      cells[2].firstChild.style.width = `${peak > 0 ? 100 * Math.abs(Number(row[measured]) || 0) / peak : 0}%`;
    }
    const values = series?.keys ? [] : measures.map(name => row[name]);
    values.forEach((value, measure) => setText(cells[3 + measure], value === null ? '–' : formatted(value)));
    keyTexts(row, keys).forEach((text, field) => setText(cells[3 + values.length + field], text));
  });
  const hidden = rows.length - shown.length;
  const first = hidden > 0 ? `The first ${MAX_ROWS} of ${formatted(rows.length)}. ` : '';
  const isOver = view.state.status !== 'running';
  const distinct = isOver ? `${formatted(answer.distinct)} distinct ${answer.distinct === 1 ? 'key' : 'keys'}` : '';
  setText(page.more, rows.length ? first + distinct : isOver ? 'No record was counted.' : 'No counts yet.');
}

// A key of several fields is an object.
function keyTexts(row, names) {
  if (names.length === 0) return ['all records'];
  return typeof row.key === 'string' ? [row.key] : names.map(name => row.key[name] ?? '');
}

// Makes the head of the table. Rows with other columns are removed.
function setColumns(measures, keys, hasSparklines) {
  const columns = JSON.stringify([measures, keys, hasSparklines]);
  if (columns === view.columns) return;
  view.columns = columns;
  const head = (name, kind) => Object.assign(element('th', name), { className: kind, scope: 'col' });
  page.rows.replaceChildren();
  page.names.replaceChildren(
    head('count', 'number'), head('share', 'number'), head('', 'bar'),
    ...measures.map(name => head(name, 'number')),
    ...(keys.length ? keys : ['']).map(name => head(name, 'key')),
  );
}

function newRow(measures, keys, series) {
  const cell = (kind, name) => {
    const made = Object.assign(element('td'), { className: kind });
    if (name) made.dataset.name = name;
    return made;
  };
  const row = element('tr');
  const bar = cell('bar');
  bar.append(series?.keys ? sparkline() : element('div'));
  row.append(
    cell('number count'), cell('number share'), bar,
    ...(series?.keys ? [] : measures).map(name => cell('number measure', name)),
    ...(keys.length > 1 ? keys.map(name => cell('key', name)) : [cell('key')]),
  );
  return row;
}

function sparkline() {
  const drawing = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  drawing.setAttribute('preserveAspectRatio', 'none');
  drawing.setAttribute('aria-hidden', 'true');
  drawing.append(document.createElementNS('http://www.w3.org/2000/svg', 'path'));
  return drawing;
}

// ---- Threads

function showThreads({ status, phases, threads }) {
  page.activity.hidden = !threads.length;
  setText(page.period, status === 'running' ? 'share of time by phase, now' : 'share of time by phase, of the whole job');
  while (page.threads.children.length > threads.length) page.threads.lastChild.remove();
  threads.forEach((shares, number) => {
    const line = page.threads.children[number] ?? page.threads.appendChild(newThread(number));
    const spent = line.lastChild;
    while (spent.children.length > phases.length) spent.lastChild.remove();
    phases.forEach(({ name, color }, at) => {
      const part = spent.children[at] ?? spent.appendChild(element('div'));
      part.className = name;
      part.style.background = IDLE.has(name) ? '' : color;
      part.style.width = `${100 * shares[at]}%`;
    });
    const words = phases.map(({ name }, at) => [name, Math.round(100 * shares[at])]).filter(([, share]) => share > 0);
    spent.title = words.map(([name, share]) => `${name} ${share} %`).join(', ');
    spent.setAttribute('aria-label', spent.title);
  });
  if (page.legend.children.length === phases.length) return;
  page.legend.replaceChildren(...phases.map(({ name, color }) => {
    const [mark, entry] = [Object.assign(element('i'), { className: name }), element('li')];
    if (!IDLE.has(name)) mark.style.background = color;
    entry.append(mark, name);
    return entry;
  }));
}

function newThread(number) {
  const line = element('li');
  const label = Object.assign(element('span', String(number + 1)), { className: 'note' });
  const spent = Object.assign(element('div'), { className: 'spent' });
  spent.setAttribute('role', 'img');
  line.append(label, spent);
  return line;
}

// ---- Text

function setStatus(state, words) {
  document.body.dataset.state = state;
  setText(page.status, words);
}

function setMessage(lines) {
  page.message.hidden = !lines.length;
  page.message.replaceChildren(...lines.map(line => element('p', line)));
}

// Leaves an element that has this text alone, so that selected text stays selected.
function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function element(name, text = '') {
  return Object.assign(document.createElement(name), { textContent: text });
}

// A number with separators of thousands, all its digits kept.
function formatted(number) {
  const [, sign, whole, rest] = /^(-?)(\d+)(.*)$/s.exec(String(number)) ?? [];
  return whole === undefined ? String(number) : sign + whole.replace(/\B(?=(\d{3})+$)/g, ',') + rest;
}

// A number of bytes with three digits.
function sized(bytes) {
  let [size, unit] = [bytes, 0];
  const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];
  while (size >= 999.5 && unit < units.length - 1) [size, unit] = [size / 1000, unit + 1];
  const decimals = unit === 0 || size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
  return `${size.toFixed(decimals)} ${units[unit]}`;
}

// A time, as 12 s, 1:05 or 2:00:05.
function clock(time) {
  const seconds = Math.round(time);
  if (seconds < 60) return `${seconds} s`;
  const two = number => String(number).padStart(2, '0');
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return hours ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

// ---- Start

addEventListener('online', () => view.retry && connect());
page.bars.addEventListener('pointermove', point);
page.bars.addEventListener('pointerleave', leave);
setInterval(() => view.state?.status === 'running' && document.body.dataset.state === 'running' && showTime(), 1000);
connect();
