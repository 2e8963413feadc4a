//! Memory in huge pages, where the system has them.

/// The size of a huge page on the systems that are meant, in bytes.
pub const HUGE_PAGE: usize = 2 << 20;

/// Asks the system to back a large piece of memory with huge pages, so that filling it takes a page fault for every 2 MiB
/// rather than for every 4 KiB, and looking things up in it fewer walks of the page table. Only an advice: nothing
/// depends on it. Pieces smaller than a huge page are left alone.
pub fn prefer_huge_pages<T>(memory: &mut [T]) {
    #[cfg(target_os = "linux")]
    advise(memory);
    #[cfg(not(target_os = "linux"))]
    let _ = memory;
}

#[cfg(target_os = "linux")]
fn advise<T>(memory: &mut [T]) {
    use rustix::mm::{Advice, madvise};
    use rustix::param::page_size;

    let range = memory.as_mut_ptr_range();
    let start = range.start.cast::<u8>();
    let skipped = start.align_offset(page_size());
    let length = size_of_val(memory).saturating_sub(skipped) / page_size() * page_size();
    if length >= HUGE_PAGE {
        // SAFETY: the pages from `start + skipped` on lie within `memory`, which is borrowed for as long as this takes,
        // and this advice changes nothing about what is in them.
        let _ = unsafe { madvise(start.add(skipped).cast(), length, Advice::LinuxHugepage) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_the_memory_stays() {
        for length in [0, 1, 1000, HUGE_PAGE / 8, HUGE_PAGE] {
            let mut memory: Vec<u64> = (0..length as u64).collect();
            prefer_huge_pages(&mut memory);
            assert!(memory.iter().copied().eq(0..length as u64));
        }
    }
}
