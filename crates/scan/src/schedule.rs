//! Scheduling: the threads of a job, how many of them work, and the tasks they take.
//!
//! There are two schedulers: a [`queue`] for results that are merged in any order, and a [`sequencer`] for ordered output.

mod governor;
pub(crate) mod limit;
mod pace;
pub(crate) mod queue;
pub(crate) mod sequencer;
pub(crate) mod task;
pub(crate) mod threads;
pub(crate) mod turns;
