//! Available memory, and memory in huge pages.
#![allow(unsafe_code, reason = "memory that may be refused, and maps")]

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ops::{Deref, DerefMut};
use std::ptr::{self, NonNull};
use std::slice;

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

use crate::system;

/// Size of a huge page on the supported systems, in bytes.
pub const HUGE_PAGE: usize = 2 << 20;

/// Gives memory that was freed back to the system, for a process that continues with little. Takes milliseconds.
pub fn give_back() {
    system::memory::give_back();
}

/// Limits the parts into which the allocator divides memory for threads, for a process with threads that come and go: each part keeps what
/// the largest of its threads has used.
pub fn limit_parts(most: usize) {
    system::memory::limit_parts(most);
}

/// A vector that never moves or grows. If it takes a huge page or more, it is aligned to one and asks the system for
/// huge pages. Filling it then takes a page fault per 2 MiB rather than per 4 KiB, and lookups take fewer page table
/// walks.
#[derive(Debug)]
pub struct FixedVec<T> {
    start: NonNull<T>,
    length: usize,
    capacity: usize,
}

// SAFETY: the values are owned, as in a `Vec`.
unsafe impl<T: Send> Send for FixedVec<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for FixedVec<T> {}

impl<T: Copy> FixedVec<T> {
    /// Creates an empty vector with room for `capacity` values, at least one.
    ///
    /// Ends the process if there is not enough memory, as `Vec` does.
    pub fn with_capacity(capacity: usize) -> Self {
        const { assert!(size_of::<T>() > 0) };
        let capacity = capacity.max(1);
        let layout = Self::layout(capacity);
        // SAFETY: the layout has room for at least one value of nonzero size.
        let memory = unsafe { alloc(layout) };
        let Some(start) = NonNull::new(memory.cast::<T>()) else { handle_alloc_error(layout) };
        if layout.size() >= HUGE_PAGE {
            // SAFETY: the memory was just allocated.
            unsafe { system::memory::use_huge_pages(start.cast(), layout.size() / HUGE_PAGE * HUGE_PAGE) };
        }
        Self { start, length: 0, capacity }
    }

    /// Creates a vector of `length` copies of a value, at least one.
    pub fn filled(value: T, length: usize) -> Self {
        let mut vector = Self::with_capacity(length);
        vector.fill_up(value, vector.capacity);
        vector
    }

    /// Appends copies of a value up to a length of at most the capacity.
    ///
    /// # Panics
    /// If there is no room for them.
    pub fn fill_up(&mut self, value: T, length: usize) {
        assert!(length <= self.capacity, "no room in a vector of fixed capacity");
        for index in self.length..length {
            // SAFETY: the index is below the capacity.
            unsafe { self.start.add(index).write(value) };
        }
        self.length = self.length.max(length);
    }

    /// Removes all values from `length` on.
    pub fn truncate(&mut self, length: usize) {
        self.length = self.length.min(length);
    }

    /// Number of values that it has room for.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Appends values.
    ///
    /// # Panics
    /// If there is no room for them.
    pub fn extend_from_slice(&mut self, values: &[T]) {
        assert!(values.len() <= self.capacity - self.length, "no room in a vector of fixed capacity");
        // SAFETY: there is room after the existing values, and `values` cannot overlap memory that is borrowed mutably.
        unsafe {
            self.start.add(self.length).copy_from_nonoverlapping(NonNull::from(values).cast(), values.len())
        };
        self.length += values.len();
    }
}

impl<T> FixedVec<T> {
    fn layout(capacity: usize) -> Layout {
        let layout = Layout::array::<T>(capacity).expect("no address space holds more");
        let align = if layout.size() >= HUGE_PAGE { HUGE_PAGE } else { 1 };
        layout.align_to(align).expect("no address space holds more")
    }
}

impl<T> Deref for FixedVec<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: `length` values have been written, and they are borrowed with `self`.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.length) }
    }
}

impl<T> DerefMut for FixedVec<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `deref`, and `self` is borrowed mutably.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.length) }
    }
}

impl<T> Drop for FixedVec<T> {
    fn drop(&mut self) {
        // SAFETY: the memory was allocated with this layout. The values are `Copy` and need no drop.
        unsafe { dealloc(self.start.as_ptr().cast(), Self::layout(self.capacity)) };
    }
}

/// Returns `true` if the system would grant this process `bytes` of address space, at least one, now.
///
/// Maps memory without the C library, which keeps large freed blocks.
pub fn has_address_space(bytes: usize) -> bool {
    let access = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: a mapping at an address chosen by the system overlaps nothing, and no other code knows of it.
    unsafe {
        mmap_anonymous(ptr::null_mut(), bytes, access, MapFlags::PRIVATE)
            .and_then(|mapping| munmap(mapping, bytes))
            .is_ok()
    }
}

/// Returns the memory available without swapping, in bytes: the lower of the kernel's estimate and the remaining limit of the
/// control group. On systems other than Linux, returns the memory of the machine. `None` if unknown.
pub fn available() -> Option<u64> {
    system::memory::available()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_kept_and_large_vectors_are_aligned_to_a_huge_page() {
        for length in [1, 1000, HUGE_PAGE / 8 - 1, HUGE_PAGE / 8, HUGE_PAGE] {
            let values: Vec<u64> = (0..length as u64).collect();
            let mut vector = FixedVec::with_capacity(length);
            vector.extend_from_slice(&values[..length / 2]);
            vector.extend_from_slice(&values[length / 2..]);
            assert!(*vector == *values);
            vector[length - 1] = 7;
            assert_eq!(vector.last(), Some(&7));
            let is_large = 8 * length >= HUGE_PAGE;
            assert!(!is_large || vector.as_ptr().addr().is_multiple_of(HUGE_PAGE));
        }
        assert!(FixedVec::filled(3_u8, 100).iter().eq([3; 100].iter()));
    }

    #[test]
    fn a_vector_is_filled_up_to_a_length() {
        let mut vector = FixedVec::with_capacity(10);
        vector.extend_from_slice(&[1, 2]);
        vector.fill_up(7, 5);
        assert_eq!(*vector, [1, 2, 7, 7, 7]);
        vector.fill_up(8, 4);
        assert_eq!(*vector, [1, 2, 7, 7, 7]);
        vector.fill_up(9, 10);
        assert_eq!(*vector, [1, 2, 7, 7, 7, 9, 9, 9, 9, 9]);
    }

    #[test]
    fn a_truncated_vector_has_room_again() {
        let mut vector = FixedVec::with_capacity(4);
        vector.extend_from_slice(&[1, 2, 3, 4]);
        vector.truncate(5);
        assert_eq!(vector[..], [1, 2, 3, 4]);
        vector.truncate(1);
        vector.extend_from_slice(&[5, 6, 7]);
        assert_eq!(vector[..], [1, 5, 6, 7]);
    }

    #[test]
    #[should_panic(expected = "no room")]
    fn a_vector_is_filled_up_to_its_capacity_at_most() {
        FixedVec::with_capacity(10).fill_up(0_u8, 11);
    }

    #[test]
    fn address_space_is_limited() {
        assert!(has_address_space(HUGE_PAGE) && !has_address_space(usize::MAX / 2));
    }

    #[test]
    #[should_panic(expected = "no room")]
    fn a_full_vector_panics() {
        FixedVec::filled(0_u8, 10).extend_from_slice(&[1]);
    }
}
