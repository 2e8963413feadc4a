//! Code that each program of Finecomb has before `main`.

/// Defines the allocator of a program, which ends it with one line when memory runs out, and records which of its standard streams are
/// closed before the Rust runtime replaces them. Use it once, in the main file.
#[macro_export]
macro_rules! startup {
    () => {
        #[global_allocator]
        static ALLOCATOR: $crate::out_of_memory::ExitingAllocator = $crate::out_of_memory::ExitingAllocator {
            program: "comb",
            advice: "use fewer threads (-j 1)",
            status: 2,
        };

        // SAFETY: the loader calls each function of this section once, before the runtime starts, with the C calling convention.
        // `record_closed_streams` does not depend on the runtime.
        #[used]
        #[allow(unsafe_code, reason = "a function that the loader calls has no safe declaration")]
        #[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
        #[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
        static RECORD_CLOSED_STREAMS: extern "C" fn() = $crate::stdio::record_closed_streams;
    };
}
