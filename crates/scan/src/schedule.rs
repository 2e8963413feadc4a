//! Scheduling: the threads of a job, how many of them work, and the tasks they take.
//!
//! There are two ways to give out work. A [`queue`] is for results that are merged in any order, a [`plan`] for output that has
//! an order.

mod governor;
mod pace;
pub(crate) mod plan;
pub(crate) mod queue;
pub(crate) mod task;
pub(crate) mod threads;
pub(crate) mod turns;
