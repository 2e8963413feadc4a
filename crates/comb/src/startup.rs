//! What holds for the whole process: its allocator, and code that runs before the Rust runtime starts.
#![allow(unsafe_code, reason = "a function that the loader calls has no safe declaration")]

use finecomb_sys::out_of_memory::ExitingAllocator;
use finecomb_sys::stdio::note_closed_streams;

#[global_allocator]
static ALLOCATOR: ExitingAllocator =
    ExitingAllocator { program: "comb", advice: "fewer threads (-j 1) take less", status: 2 };

// SAFETY: the loader calls each function of this section once, before the runtime starts, with the C calling convention.
// `note_closed_streams` needs nothing of the runtime.
#[cfg(target_os = "linux")]
#[used]
#[unsafe(link_section = ".init_array")]
static NOTE_CLOSED_STREAMS: extern "C" fn() = note_closed_streams;
