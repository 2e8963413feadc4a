//! Code that runs before the Rust runtime starts.
#![allow(unsafe_code, reason = "a function that the loader calls has no safe declaration")]

use finecomb_sys::stdio::note_closed_streams;

// SAFETY: the loader calls each function of this section once, before the runtime starts, with the C calling convention.
// `note_closed_streams` needs nothing of the runtime.
#[cfg(target_os = "linux")]
#[used]
#[unsafe(link_section = ".init_array")]
static NOTE_CLOSED_STREAMS: extern "C" fn() = note_closed_streams;
