//! Output of `comb --version`: version, commit, compiled features, and the SIMD instructions that scans use on this machine.

use std::fmt::Write;
use std::sync::OnceLock;

use finecomb_sys::simd;

/// Features of the crate, and whether each is compiled in.
const FEATURES: [(&str, bool); 3] =
    [("pcre2", cfg!(feature = "pcre2")), ("pi", cfg!(feature = "pi")), ("png", cfg!(feature = "png"))];

/// Version and commit, as in `0.1.0 (abc1234 2026-11-22)`; the version alone if it was not built from a clone.
pub(crate) const SHORT: &str = env!("COMB_VERSION");

/// [`SHORT`] with lines for features and SIMD.
pub(crate) fn long() -> &'static str {
    static LONG: OnceLock<String> = OnceLock::new();
    LONG.get_or_init(|| {
        let mut text = format!("{SHORT}\nfeatures:");
        for (name, is_on) in FEATURES {
            let _ = write!(text, " {}{name}", if is_on { '+' } else { '-' });
        }
        let _ = write!(text, "\nsimd: {}", simd::name());
        text
    })
}
