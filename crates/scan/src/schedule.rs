//! Scheduling: the threads of a job, how many of them work, and the tasks they take.
//!
//! There are two schedulers: a [`queue`] for results that are merged in any order, and a [`plan`] for ordered output.

mod governor;
pub(crate) mod limit;
mod pace;
pub(crate) mod plan;
pub(crate) mod queue;
mod streamed;
pub(crate) mod task;
pub(crate) mod threads;
pub(crate) mod turns;
