//! The version of Finecomb with the commit that it was built from. Only the programs use this crate, so that a commit rebuilds them
//! alone.

/// Version and commit, as in `0.2.0 (abc1234 2026-11-22)`; the version alone if it was not built from a clone.
pub const VERSION: &str = env!("COMB_VERSION");
