//! Tests of `comb` as a process: arguments, output, exit status. All are in one binary to link the libraries only once.
//!
//! `cargo test -p finecomb --test commands serve::` runs one module.

mod ag;
// Addresses are as in the reads of other systems only by chance.
#[cfg(target_os = "linux")]
mod aligned_reads;
mod archives;
mod bench;
mod bench_experiments;
mod binary;
mod browser;
mod clients;
mod cmd;
mod complete;
mod documents;
mod door;
mod enclosing;
mod flags;
mod grep;
mod help;
mod index;
mod inputs;
mod limit;
mod listen;
mod man;
mod mcp;
mod named_formats;
mod names;
mod outputs;
mod pager;
mod plot;
mod profile;
mod records;
mod ripgrep;
mod saved_counts;
mod screen;
mod serve;
mod serve_operation;
mod support;
mod symbol_terms;
mod symbols;
mod system;
mod tail;
mod tree_index;
mod well_known_logs;
