//! An allocator that ends the program with one line and an exit status when memory runs out, rather than aborting it.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::collections::TryReserveError;
use std::io::Write;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::thread;

/// The system's allocator, but that a program whose memory runs out says so and exits.
///
/// A program uses it with `#[global_allocator]`. Where an allocation may fail, [`try_reserve_exact`] gives an error instead.
#[derive(Debug)]
pub struct ExitingAllocator {
    /// Name of the program, which its line begins with.
    pub program: &'static str,
    /// Advice at the end of the line.
    pub advice: &'static str,
    /// Exit status.
    pub status: i32,
}

/// Memory that is given back when there is no other, so that threads which ask for little can go on until the line is written:
/// the C library aborts where it is refused a few bytes.
static RESERVE: AtomicPtr<u8> = AtomicPtr::new(ptr::null_mut());

/// Large enough to be a mapping of its own, which is unmapped when it is freed.
const RESERVE_LAYOUT: Layout = Layout::new::<[u8; 1 << 20]>();

thread_local! {
    /// Whether this thread is in [`try_reserve_exact`].
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
    /// Sets memory aside for the moment when there is no other. It is not touched, and so takes address space alone.
    pub fn keep_reserve() {
        // SAFETY: the layout has a size.
        RESERVE.store(unsafe { System.alloc(RESERVE_LAYOUT) }, Ordering::Relaxed);
    }

    fn give_back_reserve() {
        let reserve = RESERVE.swap(ptr::null_mut(), Ordering::Relaxed);
        if !reserve.is_null() {
            // SAFETY: it was allocated with this layout, and nobody else has the pointer any more.
            unsafe { System.dealloc(reserve, RESERVE_LAYOUT) };
        }
    }

    /// Passes on what the system gave, unless it is nothing.
    #[inline(always)]
    fn checked(&self, memory: *mut u8, bytes: usize) -> *mut u8 {
        if memory.is_null() {
            self.failed(bytes);
        }
        memory
    }

    #[cold]
    fn failed(&self, bytes: usize) {
        /// Whether a thread has said it already.
        static SAID: AtomicBool = AtomicBool::new(false);

        // A thread whose local values are gone is about to end, and asks for nothing that may fail.
        if MAY_FAIL.try_with(Cell::get).unwrap_or(false) {
            return;
        }
        while SAID.swap(true, Ordering::Relaxed) {
            thread::yield_now();
        }
        Self::give_back_reserve();
        let mut line = [0; 256];
        let mut rest = &mut line[..];
        // Nothing here may allocate.
        let _ =
            writeln!(rest, "{}: out of memory: cannot allocate {bytes} bytes; {}", self.program, self.advice);
        let length = 256 - rest.len();
        let _ = rustix::io::write(rustix::stdio::stderr(), &line[..length]);
        // SAFETY: it has no requirements. Unlike `exit` it runs nothing that could allocate or wait for a lock.
        unsafe { libc::_exit(self.status) }
    }
}

// SAFETY: all is left to the system's allocator.
unsafe impl GlobalAlloc for ExitingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps to the contract.
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
        // SAFETY: the layout has a size, and what is not there is not used. An allocation whose memory nobody sees is optimised away.
        assert!(black_box(unsafe { allocator.alloc(layout) }).is_null());
        MAY_FAIL.set(false);
        let mut vector: Vec<u8> = Vec::new();
        assert!(try_reserve_exact(&mut vector, layout.size()).is_err());
        assert!(!MAY_FAIL.get());
    }
}
