//! Slots of a table, in two sizes.

/// Header of a slot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    /// Count of the key; 0 in an unused slot.
    pub(crate) count: u64,
    pub(crate) hash: u32,
    pub(crate) length: u32,
}

/// A slot for a key. It is a cache line or half of one, so that an inline key costs one cache miss.
pub(crate) trait KeySlot: Copy {
    /// Maximum length of an inline key, in bytes.
    const INLINE: usize;
    /// An unused slot.
    const EMPTY: Self;

    fn head(&self) -> &Head;
    fn head_mut(&mut self) -> &mut Head;
    /// The key padded with zeros if it is inline, else its address in the arena.
    fn bytes(&self) -> &[u8];
    fn bytes_mut(&mut self) -> &mut [u8];

    fn is_used(&self) -> bool {
        self.head().count != 0
    }

    /// Whether the key is stored in the slot.
    fn is_inline(&self) -> bool {
        self.head().length as usize <= Self::INLINE
    }

    /// Whether `bytes` are equal to the first of these words.
    #[inline(always)]
    fn holds(&self, words: &[u64; 8]) -> bool {
        let (own, _) = self.bytes().as_chunks::<8>();
        let difference =
            own.iter().zip(words).fold(0, |bits, (own, word)| bits | (u64::from_le_bytes(*own) ^ word));
        difference == 0
    }

    /// Whether the first 16 bytes are equal to these words: with the same length, a key of at most 16 bytes is the same.
    #[inline(always)]
    fn holds_short(&self, words: [u64; 2]) -> bool {
        let own = self.bytes().first_chunk().map_or(0, |bytes| u128::from_le_bytes(*bytes));
        own == u128::from(words[0]) | u128::from(words[1]) << 64
    }

    /// Address of a key that is not inline.
    #[inline(always)]
    fn address(&self) -> u64 {
        self.bytes().first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }
}

macro_rules! slot {
    ($(#[$doc:meta])* $name:ident, $size:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        #[repr(C, align($size))]
        pub(crate) struct $name {
            head: Head,
            bytes: [u8; $size - size_of::<Head>()],
        }

        impl KeySlot for $name {
            const INLINE: usize = $size - size_of::<Head>();
            const EMPTY: Self = Self { head: Head { count: 0, hash: 0, length: 0 }, bytes: [0; Self::INLINE] };

            #[inline(always)]
            fn head(&self) -> &Head {
                &self.head
            }

            #[inline(always)]
            fn head_mut(&mut self) -> &mut Head {
                &mut self.head
            }

            #[inline(always)]
            fn bytes(&self) -> &[u8] {
                &self.bytes
            }

            #[inline(always)]
            fn bytes_mut(&mut self) -> &mut [u8] {
                &mut self.bytes
            }
        }
    };
}

slot! {
    /// Half a cache line: for keys of up to 16 bytes, such as addresses and numbers, and for keys that are too long for
    /// any slot.
    Narrow, 32
}

slot! {
    /// A cache line: for keys of up to 48 bytes, such as paths.
    Wide, 64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn is_held_by<S: KeySlot>(own: &[u64; 8], words: &[u64; 8]) -> bool {
        let mut slot = S::EMPTY;
        let bytes = own.map(u64::to_le_bytes).concat();
        slot.bytes_mut().copy_from_slice(&bytes[..S::INLINE]);
        slot.holds(words)
    }

    proptest! {
        /// Keys with the same hash may differ by the same bits in several words.
        #[test]
        fn a_slot_holds_a_key_only_if_all_words_are_equal(
            own in any::<[u64; 8]>(),
            differs in any::<[bool; 8]>(),
            difference in 1..=u64::MAX,
        ) {
            let words = std::array::from_fn(|at| if differs[at] { own[at] ^ difference } else { own[at] });
            prop_assert_eq!(is_held_by::<Narrow>(&own, &words), !differs[..2].contains(&true));
            prop_assert_eq!(is_held_by::<Wide>(&own, &words), !differs[..6].contains(&true));
        }
    }
}
