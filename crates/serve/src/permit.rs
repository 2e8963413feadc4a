//! Limits the requests in flight. The body of a response holds the request's permit until its last byte is sent.

use std::convert::Infallible;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use hyper::body::{Body as HttpBody, Bytes, Frame, SizeHint};

use crate::metrics::Metrics;

/// Permit to answer one request. Dropping it releases it for another request.
pub(crate) struct Permit {
    metrics: Arc<Metrics>,
}

impl Permit {
    /// Takes a permit. Returns `None` if `limit` requests are in flight.
    pub(crate) fn take(metrics: &Arc<Metrics>, limit: usize) -> Option<Self> {
        let permit = Self { metrics: Arc::clone(metrics) };
        (metrics.in_flight.increment() < limit).then_some(permit)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.metrics.in_flight.decrement();
    }
}

/// Body of a response: contiguous bytes, sent as one frame.
#[derive(Default)]
pub(crate) struct Body {
    bytes: Bytes,
    #[expect(dead_code, reason = "held until the body is dropped")]
    permit: Option<Permit>,
}

impl Body {
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Attaches a permit, which is released when the body is dropped.
    pub(crate) fn with_permit(self, permit: Permit) -> Self {
        Self { permit: Some(permit), ..self }
    }
}

impl From<Vec<u8>> for Body {
    fn from(bytes: Vec<u8>) -> Self {
        Self { bytes: bytes.into(), permit: None }
    }
}

impl From<&'static [u8]> for Body {
    fn from(bytes: &'static [u8]) -> Self {
        Self { bytes: Bytes::from_static(bytes), permit: None }
    }
}

impl HttpBody for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let bytes = mem::take(&mut self.bytes);
        Poll::Ready((!bytes.is_empty()).then(|| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.bytes.len() as u64)
    }
}
