//! Reasons why there are no digits.

use finecomb_sys::units::Count;

/// Maximum number of digits: 8,589,934,592.
///
/// Up to this number, all factors of a term fit the words they are computed in. Memory is usually the tighter limit:
/// see [`memory`](crate::memory).
pub const MAX_DIGITS: u64 = 1 << 33;

/// Reason why there are no digits.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The computation was stopped by [`Options::stop`](crate::Options::stop).
    #[error("computation of pi stopped")]
    Stopped,
    /// This number exceeds [`MAX_DIGITS`], or the address space.
    #[error("cannot compute {} digits of pi; the maximum is {}", Count(*.0), Count(MAX_DIGITS))]
    TooManyDigits(u64),
}
