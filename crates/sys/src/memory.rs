//! How much memory there is, and memory in huge pages.

use std::fs;

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

/// Bytes that can be had without swapping, as the kernel estimates it and the control group allows it; none if neither can be
/// read.
pub fn available() -> Option<u64> {
    let meminfo = fs::read_to_string("/proc/meminfo").ok();
    let system = meminfo.and_then(|meminfo| {
        let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
        line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
    });
    let number = |file| fs::read_to_string(file).ok()?.trim().parse::<u64>().ok();
    let group = number("/sys/fs/cgroup/memory.max")
        .map(|most| most.saturating_sub(number("/sys/fs/cgroup/memory.current").unwrap_or(0)));
    system.into_iter().chain(group).min()
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
