//! Memory-mapped files that may be truncated while they are read.
//!
//! Reading a page past the end of a mapped file, or one that the disk cannot deliver, raises SIGBUS, which by default ends the
//! process. A program must survive the truncation of one of its files: the handler here replaces the missing page with zeros and
//! marks the map as damaged. Readers check the mark before they rely on the bytes.
#![allow(unsafe_code, reason = "maps and signal handlers have no safe interface")]

use std::fs::File;
use std::io;
use std::mem;
use std::ops::Deref;
use std::ptr::{self, NonNull};
use std::slice;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rustix::mm::{
    Advice, MapFlags, MprotectFlags, ProtFlags, madvise, mmap, mmap_anonymous, mprotect, munmap,
};
use rustix::param::page_size;

/// Maximum number of guarded maps. The table has a fixed size, as a signal handler can neither take a lock nor grow a list.
const SLOTS: usize = 1024;

/// Guarded range of addresses; unused if its end is zero.
struct GuardedRange {
    taken: AtomicBool,
    start: AtomicUsize,
    end: AtomicUsize,
    is_damaged: AtomicBool,
}

static MAPS: [GuardedRange; SLOTS] = [const {
    GuardedRange {
        taken: AtomicBool::new(false),
        start: AtomicUsize::new(0),
        end: AtomicUsize::new(0),
        is_damaged: AtomicBool::new(false),
    }
}; SLOTS];

/// Order in which the pages of a map are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// From the beginning to the end, so that the kernel reads ahead.
    InOrder,
    /// Anywhere: the kernel reads nothing but the page that is wanted.
    Random,
}

/// A memory-mapped file.
#[derive(Debug)]
pub struct GuardedMap {
    start: NonNull<u8>,
    length: usize,
    slot: usize,
}

// SAFETY: the bytes are owned, as in a `Vec`.
unsafe impl Send for GuardedMap {}
// SAFETY: as above.
unsafe impl Sync for GuardedMap {}

impl GuardedMap {
    /// Maps the first `length` bytes of a file, at least one.
    ///
    /// # Errors
    /// If the system refuses, or there are too many maps.
    pub fn new(file: &File, length: usize, access: Access) -> io::Result<Self> {
        Self::of_part(file, 0, length, access)
    }

    /// Maps `length` bytes of a file, at least one, from `offset` on, a multiple of the page size.
    ///
    /// # Errors
    /// As for [`Self::new`].
    pub fn of_part(file: &File, offset: u64, length: usize, access: Access) -> io::Result<Self> {
        guard()?;
        let slot = MAPS.iter().position(|slot| !slot.taken.swap(true, Ordering::AcqRel));
        let slot = slot.ok_or_else(|| io::Error::other("too many files are mapped into memory"))?;
        // SAFETY: the kernel chooses the address. The bytes are only used as bytes, and no decision relies on reading the same bytes
        // twice. If another process changes the file, answers may be wrong. The guard handles a truncated file.
        let mapped =
            unsafe { mmap(ptr::null_mut(), length, ProtFlags::READ, MapFlags::PRIVATE, file, offset) };
        let start = mapped.map(|start| NonNull::new(start.cast::<u8>())).inspect_err(|_| release(slot))?;
        let Some(start) = start else {
            release(slot);
            return Err(io::ErrorKind::OutOfMemory.into());
        };
        let advice = match access {
            Access::InOrder => Advice::Sequential,
            Access::Random => Advice::Random,
        };
        // SAFETY: the range was just mapped. A kernel may refuse the advice.
        let _ = unsafe { madvise(start.as_ptr().cast(), length, advice) };
        MAPS[slot].is_damaged.store(false, Ordering::Relaxed);
        MAPS[slot].start.store(start.as_ptr() as usize, Ordering::Relaxed);
        MAPS[slot].end.store(start.as_ptr() as usize + length, Ordering::Release);
        Ok(Self { start, length, slot })
    }

    /// Returns the bytes for changes, which stay in memory. A page that is changed takes memory.
    ///
    /// # Errors
    /// If the system does not promise the memory.
    pub fn bytes_mut(&mut self) -> io::Result<&mut [u8]> {
        // SAFETY: the range is mapped, and `self` is borrowed mutably.
        unsafe {
            mprotect(self.start.as_ptr().cast(), self.length, MprotectFlags::READ | MprotectFlags::WRITE)?;
            Ok(slice::from_raw_parts_mut(self.start.as_ptr(), self.length))
        }
    }

    /// The address of the first byte.
    pub(crate) fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Returns `true` if a page was missing when it was read.
    pub fn is_damaged(&self) -> bool {
        MAPS[self.slot].is_damaged.load(Ordering::Acquire)
    }
}

impl Deref for GuardedMap {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the range is mapped, and borrowed with `self`.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.length) }
    }
}

impl Drop for GuardedMap {
    fn drop(&mut self) {
        // SAFETY: the range was mapped by `new`, and nothing refers to it any more.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.length) };
        release(self.slot);
    }
}

fn release(slot: usize) {
    MAPS[slot].end.store(0, Ordering::Release);
    MAPS[slot].taken.store(false, Ordering::Release);
}

/// Page size, stored for the handler.
static PAGE: AtomicUsize = AtomicUsize::new(0);
/// Previous action for the signal.
static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

/// Installs the handler, once.
fn guard() -> io::Result<()> {
    static INSTALLED: OnceLock<Result<(), i32>> = OnceLock::new();
    (*INSTALLED.get_or_init(|| install().map_err(|error| error.raw_os_error().unwrap_or(0))))
        .map_err(io::Error::from_raw_os_error)
}

fn install() -> io::Result<()> {
    PAGE.store(page_size(), Ordering::Relaxed);
    // SAFETY: a `sigaction` of zeros is a valid one: the default action, no flags, no signals blocked.
    let mut before: libc::sigaction = unsafe { mem::zeroed() };
    // SAFETY: both pointers are null or point to a `sigaction`. The handler only uses atomics and two system calls; it does not
    // allocate, lock or panic.
    unsafe {
        check(libc::sigaction(libc::SIGBUS, ptr::null(), &mut before))?;
        let mut action = *BEFORE.get_or_init(|| before);
        action.sa_sigaction = on_bus_error as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
        check(libc::sigaction(libc::SIGBUS, &action, ptr::null_mut()))
    }
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Replaces a missing page of a map with zeros. For a fault elsewhere, restores the previous action: the instruction runs again
/// when the handler returns.
extern "C" fn on_bus_error(_: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: with SA_SIGINFO the kernel passes a valid pointer, and for SIGBUS the address is set.
    let address = unsafe { (*info).si_addr() } as usize;
    let map = MAPS.iter().find(|slot| {
        let end = slot.end.load(Ordering::Acquire);
        (slot.start.load(Ordering::Relaxed)..end).contains(&address)
    });
    let page = PAGE.load(Ordering::Relaxed);
    let start = address & !(page - 1);
    let protection = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: the page lies in a map of this module, to which only slices of bytes refer, and has not been read or written.
    let replaced = map.is_some_and(|_| unsafe {
        mmap_anonymous(start as *mut _, page, protection, MapFlags::PRIVATE | MapFlags::FIXED).is_ok()
    });
    match (map, BEFORE.get()) {
        (Some(map), _) if replaced => map.is_damaged.store(true, Ordering::Release),
        // SAFETY: the action is one that the kernel returned.
        (_, Some(before)) => unsafe {
            libc::sigaction(libc::SIGBUS, before, ptr::null_mut());
        },
        (_, None) => {}
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn map(file: &File, pages: usize) -> GuardedMap {
        GuardedMap::new(file, pages * page_size(), Access::Random).expect("a map")
    }

    #[test]
    fn a_map_survives_the_truncation_of_its_file() {
        let mut file = tempfile::tempfile().expect("a file");
        let page = page_size();
        file.write_all(&vec![7; 8 * page]).expect("written");
        let whole = map(&file, 8);
        let mut cut = map(&file, 8);
        assert_eq!(cut[5 * page], 7);
        assert!(!cut.is_damaged());
        file.set_len(page as u64).expect("cut off");
        for _ in 0..2 {
            assert_eq!(cut[page - 1], 7);
            assert_eq!(cut.iter().skip(page).max(), Some(&0));
            assert!(cut.is_damaged());
        }
        cut.bytes_mut().expect("memory")[6 * page] = 1;
        assert_eq!(cut[6 * page], 1);
        assert!(!whole.is_damaged(), "the other map has not been read");
        drop(cut);
        assert_eq!(whole[3 * page], 0);
        assert!(whole.is_damaged());
        // A reused slot is not marked as damaged.
        file.set_len(2 * page as u64).expect("longer");
        let again = map(&file, 2);
        assert_eq!(again.iter().filter(|&&byte| byte == 7).count(), page);
        assert!(!again.is_damaged());
    }

    #[test]
    fn changes_stay_in_memory() {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(b"text").expect("written");
        let mut changed = GuardedMap::new(&file, 4, Access::InOrder).expect("a map");
        changed.bytes_mut().expect("memory")[0] = b'n';
        let same = GuardedMap::new(&file, 4, Access::InOrder).expect("a map");
        assert_eq!((&*changed, &*same), (&b"next"[..], &b"text"[..]));
    }
}
