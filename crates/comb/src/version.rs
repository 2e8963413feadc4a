//! What `comb --version` says: version, commit, features compiled in, and the SIMD instructions that scanning uses here.

use std::any::type_name;
use std::fmt::Write;
use std::sync::OnceLock;

use finecomb_sys::simd::{Kernel, Masks, dispatch};

/// Each feature of the crate, and whether it is compiled in.
const FEATURES: [(&str, bool); 2] = [("pcre2", cfg!(feature = "pcre2")), ("pi", cfg!(feature = "pi"))];

/// Version and commit, as in `0.1.0 (abc1234 2026-11-22)`; the version alone if it was not built from a clone.
pub(crate) const SHORT: &str = env!("COMB_VERSION");

/// The same, with lines for features and SIMD.
pub(crate) fn long() -> &'static str {
    static LONG: OnceLock<String> = OnceLock::new();
    LONG.get_or_init(|| {
        let mut text = format!("{SHORT}\nfeatures:");
        for (name, is_on) in FEATURES {
            let _ = write!(text, " {}{name}", if is_on { '+' } else { '-' });
        }
        let _ = write!(text, "\nsimd: {}", dispatch(Name));
        text
    })
}

/// A kernel that says which instructions it was compiled for.
struct Name;

impl Kernel for Name {
    type Output = &'static str;

    #[inline(always)]
    fn run<M: Masks>(self, _masks: M) -> &'static str {
        match type_name::<M>() {
            name if name.ends_with("::Avx2") => "AVX2",
            _ => "none",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_instructions_are_those_of_the_processor() {
        #[cfg(target_arch = "x86_64")]
        let has_avx2 =
            std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("bmi2");
        #[cfg(not(target_arch = "x86_64"))]
        let has_avx2 = false;
        assert_eq!(dispatch(Name), if has_avx2 { "AVX2" } else { "none" });
    }
}
