//! `comb` as a process: what is typed, what is printed, and how it ends. One binary, as each one more would be linked with the
//! same libraries again.
//!
//! `cargo test -p finecomb --test commands serve::` runs one module.

mod bench;
mod bench_experiments;
mod binary;
mod browser;
mod cmd;
mod documents;
mod flags;
mod grep;
mod index;
mod inputs;
mod profile;
mod ripgrep;
mod serve;
mod serve_operation;
mod support;
#[cfg(feature = "symbols")]
mod symbols;
mod system;
