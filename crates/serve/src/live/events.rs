//! Stream of server-sent events: the body of a response that ends with the job.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::body::Bytes;
use tokio::sync::watch;
use tokio::time::timeout;

use super::Published;

/// First bytes of a stream: a browser that loses the connection tries again after this time, in milliseconds.
const RETRY: &[u8] = b"retry: 1000\n\n";

/// Time without an event after which a comment is sent, so that proxies keep the connection, and clients notice its loss.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// A comment.
const COMMENT: &[u8] = b":\n\n";

/// Stream of events, each with the state that is the latest when the client can take one.
pub(crate) struct Events {
    next: Next,
}

/// The next bytes, and the client; `None` after the last state.
type Next = Pin<Box<dyn Future<Output = Option<(Bytes, Client)>> + Send>>;

/// Client of a stream.
pub(super) struct Client {
    published: watch::Receiver<Published>,
    /// Number of the last state sent.
    sent: u64,
    has_begun: bool,
}

impl Events {
    /// Begins with the next state, or with the last one if none follows.
    pub(super) fn new(published: watch::Receiver<Published>) -> Self {
        let last = published.borrow();
        let sent = if last.is_last { 0 } else { last.number };
        drop(last);
        let client = Client { published, sent, has_begun: false };
        Self { next: Box::pin(client.next()) }
    }

    /// Polls for the next bytes; `None` ends the stream.
    pub(crate) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let Some((bytes, client)) = ready!(self.next.as_mut().poll(context)) else {
            // hyper does not poll a body after its end.
            self.next = Box::pin(async { None });
            return Poll::Ready(None);
        };
        self.next = Box::pin(client.next());
        Poll::Ready(Some(bytes))
    }
}

impl Client {
    async fn next(mut self) -> Option<(Bytes, Self)> {
        if !self.has_begun {
            self.has_begun = true;
            return Some((Bytes::from_static(RETRY), self));
        }
        loop {
            let Published { number, event, is_last, .. } = self.published.borrow_and_update().clone();
            if number > self.sent {
                self.sent = number;
                return Some((event, self));
            }
            if is_last {
                return None;
            }
            match timeout(HEARTBEAT, self.published.changed()).await {
                Ok(changed) => changed.ok()?,
                Err(_) => return Some((Bytes::from_static(COMMENT), self)),
            }
        }
    }
}

impl fmt::Debug for Events {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Events").finish_non_exhaustive()
    }
}
