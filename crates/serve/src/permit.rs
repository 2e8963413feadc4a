//! Limits the requests in flight. The body of a response holds the request's permit until its last byte is sent.

use std::convert::Infallible;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use hyper::body::{Body as HttpBody, Bytes, Frame, SizeHint};

use crate::live::Events;
use crate::metrics::Metrics;

/// Permit to answer one request. Dropping it releases it for another request.
pub(crate) struct Permit {
    metrics: Arc<Metrics>,
}

impl Permit {
    /// Takes a permit. Returns `None` if `limit` requests are in flight.
    pub(crate) fn take(metrics: &Arc<Metrics>, limit: usize) -> Option<Self> {
        let permit = Self { metrics: Arc::clone(metrics) };
        ((metrics.in_flight.inc() as usize) < limit).then_some(permit)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.metrics.in_flight.dec();
    }
}

/// Body of a response: contiguous bytes, sent as one frame, or a stream of events.
#[derive(Default)]
pub(crate) struct Body {
    bytes: Bytes,
    events: Option<Events>,
    #[expect(dead_code, reason = "held until the body is dropped")]
    permit: Option<Permit>,
}

impl Body {
    /// Number of bytes; 0 for a stream.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn is_stream(&self) -> bool {
        self.events.is_some()
    }

    /// Attaches a permit, which is released when the body is dropped.
    pub(crate) fn with_permit(self, permit: Permit) -> Self {
        Self { permit: Some(permit), ..self }
    }
}

impl From<Bytes> for Body {
    fn from(bytes: Bytes) -> Self {
        Self { bytes, ..Self::default() }
    }
}

impl From<Vec<u8>> for Body {
    fn from(bytes: Vec<u8>) -> Self {
        Bytes::from(bytes).into()
    }
}

impl From<&'static [u8]> for Body {
    fn from(bytes: &'static [u8]) -> Self {
        Bytes::from_static(bytes).into()
    }
}

impl From<Events> for Body {
    fn from(events: Events) -> Self {
        Self { events: Some(events), ..Self::default() }
    }
}

impl HttpBody for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if let Some(events) = &mut self.events {
            return events.poll_next(context).map(|event| event.map(|event| Ok(Frame::data(event))));
        }
        let bytes = mem::take(&mut self.bytes);
        Poll::Ready((!bytes.is_empty()).then(|| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.is_empty() && self.events.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        match self.events {
            Some(_) => SizeHint::default(),
            None => SizeHint::with_exact(self.bytes.len() as u64),
        }
    }
}
