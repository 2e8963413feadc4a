//! Calls that run at a time: their number, their time-out, and how they are cancelled.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use finecomb_scan::Stop;
use finecomb_sys::locks::lock;
use finecomb_sys::memory::give_back;
use finecomb_sys::threads::spawn_detached;
use rmcp::model::{ErrorCode, ErrorData};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::time::{Instant, timeout, timeout_at};

use finecomb_command::mcp::McpLimits;

/// Code of the error of a call that was refused, from the range that JSON-RPC leaves to servers.
const BUSY: ErrorCode = ErrorCode(-32000);

/// Code of the error of a call that did not end in time.
const TIMED_OUT: ErrorCode = ErrorCode(-32001);

/// Time from the stop of a call until its answer is no longer waited for.
const GRACE: Duration = Duration::from_secs(2);

/// Time of a call after which the memory is given back that it has freed: it has parsed or read much.
const LONG: Duration = Duration::from_millis(50);

/// The same after short calls: the threads of each leave a little in other parts of the memory, 10 MB in each after an hour.
const OFTEN: Duration = Duration::from_secs(5);

/// The calls of a server.
pub(super) struct Calls {
    running: Arc<Semaphore>,
    waiting: AtomicUsize,
    limits: McpLimits,
    /// When freed memory was given back.
    given_back: Arc<Mutex<Instant>>,
}

impl Calls {
    pub(super) fn new(limits: &McpLimits) -> Self {
        let running = Arc::new(Semaphore::new(limits.max_in_flight));
        let given_back = Arc::new(Mutex::new(Instant::now()));
        Self { running, waiting: AtomicUsize::new(0), limits: limits.clone(), given_back }
    }

    /// Runs `work` on a thread of its own. The stop is raised if `cancelled` ends first, or the time is up. Other calls may run once there is an
    /// answer: work that was stopped ends at once.
    ///
    /// # Errors
    /// If there are too many calls, it does not end in time, or it is cancelled.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        cancelled: impl Future<Output = ()>,
        work: impl FnOnce(&Arc<Stop>) -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        let deadline = Instant::now() + self.limits.request_timeout;
        tokio::pin!(cancelled);
        let permit = tokio::select! {
            permit = self.permit(deadline) => permit?,
            () = &mut cancelled => return Err(cancelled_error()),
        };
        let _permit = permit;
        let (stop, mut done) = self.start(work)?;
        tokio::select! {
            answer = &mut done => return answer.map_err(|_| unfinished()),
            () = &mut cancelled => {
                stop.raise();
                return Err(cancelled_error());
            }
            () = tokio::time::sleep_until(deadline) => stop.raise(),
        }
        match timeout(GRACE, done).await {
            Ok(answer) => answer.map_err(|_| unfinished()),
            Err(_) => Err(self.timed_out("it did not stop at once")),
        }
    }

    /// Waits until the call may run.
    async fn permit(&self, deadline: Instant) -> Result<OwnedSemaphorePermit, ErrorData> {
        if let Ok(permit) = Arc::clone(&self.running).try_acquire_owned() {
            return Ok(permit);
        }
        let _waiting =
            Waiting::enter(&self.waiting, self.limits.max_waiting).ok_or_else(|| self.refused())?;
        match timeout_at(deadline, Arc::clone(&self.running).acquire_owned()).await {
            Ok(permit) => permit.map_err(|_| unfinished()),
            Err(_) => Err(self.timed_out("it was waiting for other calls")),
        }
    }

    /// Starts the work of a call.
    fn start<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Arc<Stop>) -> T + Send + 'static,
    ) -> Result<(Arc<Stop>, oneshot::Receiver<T>), ErrorData> {
        let refused = |reason: String| ErrorData::new(BUSY, reason, None);
        let stop = Stop::new().map_err(|error| refused(format!("cannot start the call: {error}")))?;
        let stop = Arc::new(stop);
        let (sender, done) = oneshot::channel();
        let (for_work, given_back) = (Arc::clone(&stop), Arc::clone(&self.given_back));
        let is_started = spawn_detached(move || {
            let start = Instant::now();
            // The receiver is gone if the answer is no longer wanted.
            let _ = sender.send(work(&for_work));
            let mut last = lock(&given_back);
            if start.elapsed() >= LONG || last.elapsed() >= OFTEN {
                *last = Instant::now();
                give_back();
            }
        });
        if is_started { Ok((stop, done)) } else { Err(refused("cannot start a thread".to_owned())) }
    }

    fn refused(&self) -> ErrorData {
        let McpLimits { max_in_flight, max_waiting, .. } = self.limits;
        let text = format!(
            "too many calls: {max_in_flight} are running and {max_waiting} are waiting; call again later"
        );
        ErrorData::new(BUSY, text, None)
    }

    fn timed_out(&self, why: &str) -> ErrorData {
        let seconds = self.limits.request_timeout.as_secs_f64();
        ErrorData::new(TIMED_OUT, format!("timed out after {seconds} s: {why}"), None)
    }
}

/// A call that waits, among a limited number.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn enter(count: &'a AtomicUsize, most: usize) -> Option<Self> {
        let more = |count: usize| (count < most).then(|| count + 1);
        count.try_update(Ordering::Relaxed, Ordering::Relaxed, more).ok().map(|_| Self(count))
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn cancelled_error() -> ErrorData {
    ErrorData::new(ErrorCode(-32800), "cancelled", None)
}

fn unfinished() -> ErrorData {
    ErrorData::internal_error("the call ended without an answer", None)
}
