//! The locale of the C library, by which C code classifies characters.
#![allow(unsafe_code, reason = "functions of the C library")]

use std::ptr;

/// Calls a function with the locale C on this thread. Programs of other languages set another one when they start, such as Python.
pub fn with_c_locale<T>(function: impl FnOnce() -> T) -> T {
    let _restored = CLocale::new();
    function()
}

/// The locale C, until it is dropped.
struct CLocale {
    own: libc::locale_t,
    before: libc::locale_t,
}

impl CLocale {
    /// Sets the locale of this thread. It needs no file, so it is missing only if memory is.
    fn new() -> Option<Self> {
        // SAFETY: the name is a string, and there is no locale to change.
        let own = unsafe { libc::newlocale(libc::LC_CTYPE_MASK, c"C".as_ptr(), ptr::null_mut()) };
        // SAFETY: the locale is valid until it is freed.
        (!own.is_null()).then(|| Self { own, before: unsafe { libc::uselocale(own) } })
    }
}

impl Drop for CLocale {
    fn drop(&mut self) {
        // SAFETY: the thread used `before` until now; it does not use `own` any more when that is freed.
        unsafe {
            libc::uselocale(self.before);
            libc::freelocale(self.own);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    unsafe extern "C" {
        safe fn iswalpha(character: u32) -> libc::c_int;
    }

    #[test]
    fn characters_are_those_of_the_locale_c_within_a_call_only() {
        let is_letter = || iswalpha('\u{e9}'.into()) != 0;
        // SAFETY: the name is a string, and there is no locale to change.
        let unicode = unsafe { libc::newlocale(libc::LC_CTYPE_MASK, c"C.UTF-8".as_ptr(), ptr::null_mut()) };
        assert!(!unicode.is_null());
        // SAFETY: the locale is valid.
        let before = unsafe { libc::uselocale(unicode) };
        assert!(is_letter());
        assert!(!with_c_locale(is_letter));
        assert!(std::panic::catch_unwind(|| with_c_locale(|| panic!("within"))).is_err());
        assert!(is_letter());
        // SAFETY: the thread used `before`; it does not use `unicode` any more when that is freed.
        unsafe {
            libc::uselocale(before);
            libc::freelocale(unicode);
        }
    }
}
