//! Leases, which only Linux gives.

use std::io;
use std::os::fd::AsFd;

use super::unsupported;

/// A read lease. There is none.
#[derive(Debug)]
pub struct Lease<F: AsFd>(F);

impl<F: AsFd> Lease<F> {
    /// Takes no lease.
    ///
    /// # Errors
    /// Always: the system cannot report writers of a file.
    pub fn take(_file: F) -> io::Result<Self> {
        unsupported()
    }

    /// The file.
    pub fn file(&self) -> &F {
        &self.0
    }

    /// Returns `false`: nothing is known of writers.
    pub fn is_whole(&self) -> bool {
        false
    }
}
