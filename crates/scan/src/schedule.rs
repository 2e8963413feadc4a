//! Scheduling: the threads of a job, how many of them work, and the tasks they take.
//!
//! Workers take work from a [`pool`]: in any order from a [`queue`] if results are merged, or in the order of a [`sequencer`],
//! which writes the output.

pub(crate) mod governed;
mod governor;
pub(crate) mod limit;
pub(crate) mod pool;
pub(crate) mod queue;
pub(crate) mod sequencer;
pub(crate) mod task;
pub(crate) mod threads;
pub(crate) mod turns;
