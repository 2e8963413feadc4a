//! The page of `--listen`: the counts so far, the buckets and the activity of each thread, in a browser.
//!
//! The thread that reports the progress of the job makes the states that the page shows, and `comb-serve` serves them. Without a client
//! it makes none.

mod server;
mod state;
pub mod wire;

use std::mem;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use finecomb_scan::{Progress, ScanOptions, Watch};
use finecomb_sys::locks::lock;
use finecomb_top::{Answer, Live, Outcome, Query};

use self::server::PageServer;
use self::state::{Moment, View};
use crate::message;
use crate::top::args::TopArguments;

/// Maximum number of rows in a state.
const MAX_ROWS: usize = 1000;

/// Maximum number of buckets in a series: more than two days of minutes.
const MAX_BUCKETS: usize = 3000;

/// Time between two progress reports, if nothing else needs them.
const EVERY: Duration = Duration::from_millis(200);

/// Minimum time between two states.
const PAUSE: Duration = Duration::from_millis(190);

/// The same in multiples of the time that the last one took.
const PAUSE_FACTOR: u32 = 20;

/// The page of a job.
pub(crate) struct Dashboard {
    server: PageServer,
    view: View,
    /// Whether buckets are printed as they end, and are not in the result.
    prints_buckets: bool,
    shown: Mutex<Shown>,
}

/// The last state.
struct Shown {
    progress: Progress,
    /// The state without its time.
    body: String,
    /// Time before which no state is made.
    not_before: Instant,
    /// Whether there was a client at the last progress report.
    had_clients: bool,
    /// The last answer of a job that prints buckets as they end.
    followed: Option<Answer>,
    /// Whether a client waits for a state, also if it is the same.
    is_awaited: bool,
}

impl Dashboard {
    /// Starts the server, if the arguments ask for one, and prints the address of the page.
    ///
    /// # Errors
    ///
    /// If the server cannot start.
    pub(crate) fn start(arguments: &TopArguments) -> Result<Option<Self>, String> {
        let Some(listen) = arguments.listen.listen else { return Ok(None) };
        // A message would be drawn into the screen of --live.
        let server = PageServer::start(listen, &arguments.listen.allowed_hosts, arguments.live)?;
        message::note(format_args!("listening on http://{}/", server.address()));
        let shown = Shown {
            progress: Progress::default(),
            body: String::new(),
            not_before: Instant::now(),
            had_clients: false,
            followed: None,
            is_awaited: false,
        };
        let (view, prints_buckets) = (View::new(arguments), arguments.prints_buckets());
        Ok(Some(Self { server, view, prints_buckets, shown: Mutex::new(shown) }))
    }

    /// Runs a job, and publishes its states. Another display of the job, if there is one, is kept up to date, and has the
    /// intermediate answer `live`.
    pub(crate) fn watch<T>(
        &self,
        options: &ScanOptions<'_>,
        query: &Query,
        live: Option<&Live>,
        job: impl FnOnce(&ScanOptions<'_>, &Live) -> T,
    ) -> T {
        let (own, other) = (Live::new(query, self.view.max_rows()), options.watch);
        let answer = live.unwrap_or(&own);
        let show = |progress: Progress| {
            let is_asked = match other.filter(|other| progress.elapsed >= other.after) {
                // The screen of --live asks for an update itself.
                Some(other) => {
                    (other.show)(progress.clone());
                    live.is_some()
                }
                None => false,
            };
            self.show(progress, answer, is_asked);
        };
        let every = other.map_or(EVERY, |other| other.every);
        let watch = Watch::new(every, &show).after(Duration::ZERO).threads(true);
        let done = job(&options.clone().watch(Some(watch)), answer);
        lock(&self.shown).followed = self.prints_buckets.then(|| answer.answer());
        done
    }

    /// Publishes a state if a client waits for one and it differs from the last one.
    fn show(&self, progress: Progress, live: &Live, is_asked: bool) {
        let shown = &mut *lock(&self.shown);
        let start = Instant::now();
        shown.is_awaited |= self.server.take_new_client();
        if start < shown.not_before {
            return;
        }
        let had_clients = mem::replace(&mut shown.had_clients, self.server.has_clients());
        if !shown.had_clients {
            return;
        }
        if !is_asked {
            live.ask();
        }
        if !had_clients {
            // The last update of the counts may be old; the next one comes soon.
            shown.progress = progress;
            return;
        }
        let moment = Moment { progress: &progress, before: &shown.progress };
        if let Ok((body, answer)) = self.view.intermediate(live.answer(), &moment)
            && (shown.is_awaited || body != shown.body)
        {
            self.server.publish(state::update(progress.elapsed, &body, answer, false));
            shown.body = body;
            shown.is_awaited = false;
        }
        shown.progress = progress;
        shown.not_before = start + PAUSE.max(start.elapsed() * PAUSE_FACTOR);
    }

    /// Publishes the result. When the dashboard is dropped, it waits until the clients have it, at most a second.
    pub(crate) fn finish(&self, outcome: &Outcome, elapsed: Duration) {
        let shown = lock(&self.shown);
        if let Ok((body, answer)) = self.view.last(outcome, shown.followed.as_ref(), &shown.progress) {
            self.server.publish(state::update(elapsed, &body, answer, true));
        }
    }
}
