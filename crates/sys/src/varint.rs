//! Numbers of variable length: seven bits a byte, from the lowest ones on. The highest bit of a byte says that more follow.

/// Appends a number in 1 to 10 bytes.
#[inline]
pub fn put(out: &mut Vec<u8>, number: u64) {
    if number < 0x80 { out.push(number as u8) } else { put_wide(out, number.into()) }
}

/// Appends a signed number in 1 to 19 bytes. Those near zero are short.
pub fn put_signed(out: &mut Vec<u8>, number: i128) {
    put_wide(out, (number << 1 ^ number >> 127) as u128);
}

fn put_wide(out: &mut Vec<u8>, mut number: u128) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Takes a number from the beginning of `bytes`. `None` if there is none.
#[inline]
pub fn take(bytes: &mut &[u8]) -> Option<u64> {
    let (&first, rest) = bytes.split_first()?;
    if first < 0x80 {
        *bytes = rest;
        return Some(first.into());
    }
    u64::try_from(take_wide(bytes)?).ok()
}

/// Takes a signed number from the beginning of `bytes`. `None` if there is none.
#[inline]
pub fn take_signed(bytes: &mut &[u8]) -> Option<i128> {
    let signed = |number: u128| (number >> 1) as i128 ^ -((number & 1) as i128);
    let (&first, rest) = bytes.split_first()?;
    if first < 0x80 {
        *bytes = rest;
        return Some(signed(first.into()));
    }
    take_wide(bytes).map(signed)
}

fn take_wide(bytes: &mut &[u8]) -> Option<u128> {
    let (mut low, mut number) = (0, 0);
    for (index, &byte) in bytes.iter().enumerate().take(19) {
        // Nearly all numbers fit into a register.
        if index < 9 {
            low |= u64::from(byte & 0x7F) << (7 * index);
            number = low.into();
        } else {
            number |= u128::from(byte & 0x7F) << (7 * index);
        }
        if byte < 0x80 {
            *bytes = &bytes[index + 1..];
            return Some(number);
        }
    }
    None
}

/// Appends a number of bytes, and the bytes.
pub fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Takes what [`put_bytes`] has written from the beginning of `bytes`. `None` if it is not whole.
pub fn take_bytes<'b>(bytes: &mut &'b [u8]) -> Option<&'b [u8]> {
    let mut rest = *bytes;
    let length = usize::try_from(take(&mut rest)?).ok()?;
    let taken;
    (taken, *bytes) = rest.split_at_checked(length)?;
    Some(taken)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_are_read_as_they_were_written(number: u64, signed: i128, shift in 0..128_u32) {
            let (number, signed) = (number >> (shift % 64), signed >> shift);
            let mut bytes = Vec::new();
            put(&mut bytes, number);
            put_signed(&mut bytes, signed);
            bytes.push(7);
            let mut rest = &bytes[..];
            prop_assert_eq!((take(&mut rest), take_signed(&mut rest)), (Some(number), Some(signed)));
            prop_assert_eq!((take(&mut rest), take(&mut rest)), (Some(7), None));
        }
    }

    #[test]
    fn bytes_are_taken_as_a_whole() {
        let mut bytes = Vec::new();
        put_bytes(&mut bytes, b"");
        put_bytes(&mut bytes, &[9; 200]);
        assert_eq!(bytes.len(), 203);
        let mut rest = &bytes[..];
        assert_eq!((take_bytes(&mut rest), take_bytes(&mut rest)), (Some(&b""[..]), Some(&[9; 200][..])));
        assert!(rest.is_empty());
        for length in 1..202 {
            assert_eq!(take_bytes(&mut &bytes[1..=length]), None);
        }
    }

    #[test]
    fn the_extreme_numbers_are_kept_and_endless_ones_rejected() {
        for number in [i128::MIN, i128::MAX, 0, -1] {
            let mut bytes = Vec::new();
            put_signed(&mut bytes, number);
            assert_eq!(take_signed(&mut &bytes[..]), Some(number));
        }
        assert_eq!(take_signed(&mut &[0x80; 30][..]), None);
        let mut most = Vec::new();
        put(&mut most, u64::MAX);
        assert_eq!((most.len(), take(&mut &most[..])), (10, Some(u64::MAX)));
    }
}
