//! Words for addresses and search terms.

/// Deterministic hash of `n`: the finaliser of SplitMix64 (Steele et al. 2014).
pub(crate) fn scramble(n: u64) -> u64 {
    let n = n.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let n = (n ^ (n >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let n = (n ^ (n >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    n ^ (n >> 31)
}

pub(crate) const WORDS: [&str; 64] = [
    "amber", "anchor", "autumn", "basalt", "beacon", "birch", "bridge", "canyon", "cedar", "chalk", "cinder",
    "clover", "cobalt", "comet", "copper", "coral", "delta", "drift", "ember", "falcon", "fern", "flint",
    "garnet", "glacier", "granite", "harbor", "hazel", "heron", "indigo", "island", "ivory", "juniper",
    "kelp", "lantern", "larch", "lichen", "linen", "marble", "meadow", "mesa", "mint", "moss", "ochre",
    "opal", "orchard", "osprey", "pebble", "pine", "prairie", "quartz", "raven", "reef", "river", "saffron",
    "sierra", "slate", "sparrow", "spruce", "summit", "thistle", "timber", "tundra", "willow", "zephyr",
];

/// The `turn`-th word selected by the bits of `number`; turns 0 to 9 are independent.
pub(crate) fn word(number: u64, turn: u32) -> &'static str {
    WORDS[(number >> (6 * turn)) as usize % WORDS.len()]
}
