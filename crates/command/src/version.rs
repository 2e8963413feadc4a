//! Output of `comb --version`: version, commit, compiled features, and the SIMD instructions that scans use on this machine. Also
//! the versions of other programs, in the form that programs which call them expect.

use std::fmt::Write;
use std::sync::OnceLock;

use finecomb_sys::simd;

/// Features of the crate, and whether each is compiled in.
const FEATURES: [(&str, bool); 7] = [
    ("all-languages", cfg!(feature = "all-languages")),
    ("arrow", cfg!(feature = "arrow")),
    ("openmp", cfg!(feature = "openmp")),
    ("parquet", cfg!(feature = "parquet")),
    ("pcre2", cfg!(feature = "pcre2")),
    ("portable", cfg!(feature = "portable")),
    ("symbols", cfg!(feature = "symbols")),
];

/// The versions of the programs whose flags and output this one has under their names.
const RIPGREP: &str = "15.2.0";
const AG: &str = "2.2.0";

static SHORT: OnceLock<&str> = OnceLock::new();

/// Sets what [`short`] returns. The library itself does not know the commit: each would build it anew.
pub(crate) fn set(version: &'static str) {
    // Set once, when a program starts.
    let _ = SHORT.set(version);
}

/// Version and commit of the program, as in `0.2.0 (abc1234 2026-11-22)`; the version alone in the Python module.
pub fn short() -> &'static str {
    SHORT.get().copied().unwrap_or(env!("CARGO_PKG_VERSION"))
}

/// [`short`] with lines for features and SIMD.
pub(crate) fn long() -> &'static str {
    static LONG: OnceLock<String> = OnceLock::new();
    LONG.get_or_init(|| {
        let mut text = format!("{}\nfeatures:", short());
        for (name, is_on) in FEATURES {
            let _ = write!(text, " {}{name}", if is_on { '+' } else { '-' });
        }
        let _ = write!(text, "\nsimd: {}", simd::name());
        text
    })
}

/// Output of `rg -V`: its version, and ours.
pub(crate) fn of_ripgrep() -> String {
    format!("ripgrep {RIPGREP} (finecomb {})\n", env!("CARGO_PKG_VERSION"))
}

/// Output of `rg --version`.
pub(crate) fn of_ripgrep_in_full() -> String {
    let mut text = of_ripgrep();
    let _ = writeln!(text, "\nfeatures:{}pcre2", sign(cfg!(feature = "pcre2")));
    let (compiled, present) = simd_features();
    if !present.is_empty() {
        let _ = write!(text, "simd(compile):{compiled}\nsimd(runtime):{present}\n");
    }
    let _ = write!(text, "\n{}", of_pcre2());
    text
}

fn sign(is_on: bool) -> char {
    if is_on { '+' } else { '-' }
}

/// The SIMD instructions that the build requires, and the ones that this machine has, of the list that ripgrep prints.
fn simd_features() -> (String, String) {
    #[cfg(target_arch = "x86_64")]
    {
        let list = |[sse2, ssse3, avx2]: [bool; 3]| {
            format!("{}SSE2,{}SSSE3,{}AVX2", sign(sse2), sign(ssse3), sign(avx2))
        };
        let compiled =
            [cfg!(target_feature = "sse2"), cfg!(target_feature = "ssse3"), cfg!(target_feature = "avx2")];
        let present = [
            std::arch::is_x86_feature_detected!("sse2"),
            std::arch::is_x86_feature_detected!("ssse3"),
            std::arch::is_x86_feature_detected!("avx2"),
        ];
        (list(compiled), list(present))
    }
    #[cfg(target_arch = "aarch64")]
    {
        let compiled = format!("{}NEON", sign(cfg!(target_feature = "neon")));
        let present = format!("{}NEON", sign(std::arch::is_aarch64_feature_detected!("neon")));
        (compiled, present)
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    Default::default()
}

/// Output of `rg --pcre2-version`.
pub(crate) fn of_pcre2() -> String {
    match finecomb_grep::pcre2_version() {
        Some(version) => {
            let jit = if version.has_jit { "available" } else { "unavailable" };
            format!("PCRE2 {}.{} is available (JIT is {jit})\n", version.major, version.minor)
        }
        None => "PCRE2 is not available in this build of ripgrep.\n".to_owned(),
    }
}

/// Output of `ag --version`.
pub(crate) fn of_ag() -> String {
    let jit = finecomb_grep::pcre2_version().is_some_and(|version| version.has_jit);
    format!(
        "ag version {AG} (finecomb {})\n\nFeatures:\n  {}jit +lzma +zlib\n",
        env!("CARGO_PKG_VERSION"),
        sign(jit)
    )
}
