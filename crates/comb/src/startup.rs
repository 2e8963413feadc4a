//! Code that runs before the Rust runtime starts.
#![allow(unsafe_code, reason = "a function that the loader calls has no safe declaration")]

finecomb_sys::startup!();

/// Makes the threads of OpenMP, which sort the suffixes of an index, sleep while they wait for each other. By default
/// they spin: a build took 5 to 14 times as long on busy cores. A policy set by the user is kept.
///
/// OpenMP reads the policy from the environment in a function of the section `.init_array`, as it is linked statically. On macOS
/// it is another library, which has read the policy before.
#[cfg(not(target_vendor = "apple"))]
extern "C" fn let_openmp_wait_passively() {
    // SAFETY: both are C strings, and the process has only one thread at this point.
    unsafe { libc::setenv(c"OMP_WAIT_POLICY".as_ptr(), c"passive".as_ptr(), 0) };
}

// SAFETY: the loader calls it once, as above. Linkers place sections with a number, sorted by it, before the one without. `setenv` is a function of the C
// library, which is initialised before the program.
#[cfg(not(target_vendor = "apple"))]
#[used]
#[unsafe(link_section = ".init_array.00101")]
static LET_OPENMP_WAIT_PASSIVELY: extern "C" fn() = let_openmp_wait_passively;
