//! The bytes between the fields of a key.

use std::borrow::Cow;

/// How the fields of a key of several fields are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Joint {
    /// By a space: the key is one text, which can be edited.
    Space,
    /// By a separator, with which the fields can be told apart again.
    Separator,
}

/// Separates fields. In the order of keys, a field comes before the fields that it is the beginning of, since text hardly
/// ever has a smaller byte.
pub(crate) const SEPARATOR: u8 = 0x1F;
/// Precedes a code for a byte that has a meaning here.
const ESCAPE: u8 = 0x1E;
/// Control characters, which no edit of a key changes.
const CODES: [(u8, u8); 2] = [(SEPARATOR, 1), (ESCAPE, 2)];

impl Joint {
    /// Appends the field with this index to a key.
    pub(crate) fn append(self, index: usize, field: &[u8], out: &mut Vec<u8>) {
        if self == Self::Space {
            if index > 0 {
                out.push(b' ');
            }
            return out.extend_from_slice(field);
        }
        if index > 0 {
            out.push(SEPARATOR);
        }
        let mut rest = field;
        while let Some(at) = memchr::memchr2(SEPARATOR, ESCAPE, rest) {
            out.extend_from_slice(&rest[..at]);
            let code = CODES.iter().find(|(byte, _)| *byte == rest[at]).map_or(0, |&(_, code)| code);
            out.extend([ESCAPE, code]);
            rest = &rest[at + 1..];
        }
        out.extend_from_slice(rest);
    }

    /// The text of a key, with its fields joined by a space.
    pub(crate) fn readable(self, key: &[u8]) -> Cow<'_, [u8]> {
        match self {
            Self::Space => Cow::Borrowed(key),
            Self::Separator => Cow::Owned(split(key).join(&b' ')),
        }
    }
}

/// Splits a key that was joined by [`Joint::Separator`].
pub(crate) fn split(key: &[u8]) -> Vec<Vec<u8>> {
    key.split(|&byte| byte == SEPARATOR).map(unescape).collect()
}

fn unescape(field: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(field.len());
    let mut bytes = field.iter();
    while let Some(&byte) = bytes.next() {
        let code = if byte == ESCAPE { bytes.next() } else { None };
        let escaped = CODES.iter().find(|(_, known)| Some(known) == code);
        plain.push(escaped.map_or(byte, |&(byte, _)| byte));
    }
    plain
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn joined(joint: Joint, fields: &[Vec<u8>]) -> Vec<u8> {
        let mut key = Vec::new();
        for (index, field) in fields.iter().enumerate() {
            joint.append(index, field, &mut key);
        }
        key
    }

    proptest! {
        #[test]
        fn fields_can_be_told_apart(
            fields in prop::collection::vec(
                prop::collection::vec(prop_oneof![Just(SEPARATOR), Just(ESCAPE), 1..3_u8, any::<u8>()], 0..6), 1..5),
        ) {
            prop_assert_eq!(split(&joined(Joint::Separator, &fields)), fields.clone());
            prop_assert_eq!(joined(Joint::Space, &fields), fields.join(&b' '));
        }
    }
}
