//! An allocator that ends the program with one line and an exit status when memory runs out, rather than aborting it.
#![allow(unsafe_code, reason = "an allocator, and an exit that allocates nothing")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::collections::TryReserveError;
use std::io::Write;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::thread;

use crate::units::Bytes;

/// The system allocator, except that it reports exhausted memory and exits.
///
/// Use it with `#[global_allocator]`. For an allocation that may fail, [`try_reserve_exact`] returns an error instead.
#[derive(Debug)]
pub struct ExitingAllocator {
    /// Name of the program, at the beginning of the line.
    pub program: &'static str,
    /// Advice at the end of the line.
    pub advice: &'static str,
    /// Exit status.
    pub status: i32,
}

/// Reserve that is freed when memory runs out, so that other threads can make small allocations until the line is
/// written: the C library aborts if it is refused a few bytes.
static RESERVE: AtomicPtr<u8> = AtomicPtr::new(ptr::null_mut());

/// Large enough to be a separate mapping, which is unmapped when it is freed.
const RESERVE_LAYOUT: Layout = Layout::new::<[u8; 1 << 20]>();

thread_local! {
    /// Set while this thread is in [`try_reserve_exact`].
    static MAY_FAIL: Cell<bool> = const { Cell::new(false) };
}

/// `Vec::try_reserve_exact` for programs with an [`ExitingAllocator`].
///
/// # Errors
///
/// If there is not enough memory.
pub fn try_reserve_exact<T>(vector: &mut Vec<T>, additional: usize) -> Result<(), TryReserveError> {
    MAY_FAIL.set(true);
    let reserved = vector.try_reserve_exact(additional);
    MAY_FAIL.set(false);
    reserved
}

impl ExitingAllocator {
    /// Allocates the reserve. It is never touched, so it takes only address space.
    pub fn keep_reserve() {
        // SAFETY: the layout has a size.
        RESERVE.store(unsafe { System.alloc(RESERVE_LAYOUT) }, Ordering::Relaxed);
    }

    fn free_reserve() {
        let reserve = RESERVE.swap(ptr::null_mut(), Ordering::Relaxed);
        if !reserve.is_null() {
            // SAFETY: the memory was allocated with this layout, and no other code has the pointer any more.
            unsafe { System.dealloc(reserve, RESERVE_LAYOUT) };
        }
    }

    /// Returns the memory unless it is null.
    #[inline(always)]
    fn checked(&self, memory: *mut u8, bytes: usize) -> *mut u8 {
        if memory.is_null() {
            self.failed(bytes);
        }
        memory
    }

    #[cold]
    fn failed(&self, bytes: usize) {
        /// Set once a thread reports the failure.
        static REPORTED: AtomicBool = AtomicBool::new(false);

        // A thread whose thread-local values are destroyed is about to end, and makes no allocation that may fail.
        if MAY_FAIL.try_with(Cell::get).unwrap_or(false) {
            return;
        }
        while REPORTED.swap(true, Ordering::Relaxed) {
            thread::yield_now();
        }
        Self::free_reserve();
        let mut line = [0; 256];
        let mut rest = &mut line[..];
        // Nothing here may allocate.
        let _ = writeln!(
            rest,
            "{}: out of memory: cannot allocate {}; {}",
            self.program,
            Bytes(bytes as u64),
            self.advice
        );
        let length = 256 - rest.len();
        let _ = rustix::io::write(rustix::stdio::stderr(), &line[..length]);
        // SAFETY: the call has no requirements. Unlike `exit`, it runs no code that could allocate or wait for a lock.
        unsafe { libc::_exit(self.status) }
    }
}

// SAFETY: every call is forwarded to the system allocator.
unsafe impl GlobalAlloc for ExitingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller upholds the contract.
        self.checked(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        self.checked(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        self.checked(unsafe { System.realloc(memory, layout, size) }, size)
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;

    use super::*;

    #[test]
    fn an_allocation_that_may_fail_fails() {
        let allocator = ExitingAllocator { program: "test", advice: "none", status: 2 };
        let layout = Layout::array::<u8>(isize::MAX as usize / 2).expect("a layout");
        MAY_FAIL.set(true);
        // SAFETY: the layout has a size, and null is not dereferenced. `black_box` keeps the unused allocation from
        // being optimized away.
        assert!(black_box(unsafe { allocator.alloc(layout) }).is_null());
        MAY_FAIL.set(false);
        let mut vector: Vec<u8> = Vec::new();
        assert!(try_reserve_exact(&mut vector, layout.size()).is_err());
        assert!(!MAY_FAIL.get());
    }
}
