//! Words of Kotlin that are keywords in some places only.

/// Returns `true` for a word that may stand before a declaration. Each may be a name, too.
pub(super) fn is_modifier(word: &[u8]) -> bool {
    matches!(
        word,
        b"abstract"
            | b"actual"
            | b"annotation"
            | b"companion"
            | b"const"
            | b"crossinline"
            | b"data"
            | b"enum"
            | b"expect"
            | b"external"
            | b"final"
            | b"infix"
            | b"inline"
            | b"inner"
            | b"internal"
            | b"lateinit"
            | b"noinline"
            | b"open"
            | b"operator"
            | b"override"
            | b"private"
            | b"protected"
            | b"public"
            | b"sealed"
            | b"tailrec"
            | b"value"
            | b"vararg"
    )
}

/// Returns `true` for the first word of a declaration without modifiers, and for modifiers that are rarely names.
pub(super) fn begins_declaration(word: &[u8]) -> bool {
    matches!(
        word,
        b"class"
            | b"companion"
            | b"constructor"
            | b"fun"
            | b"interface"
            | b"internal"
            | b"object"
            | b"override"
            | b"private"
            | b"protected"
            | b"public"
            | b"suspend"
            | b"typealias"
            | b"val"
            | b"var"
    )
}
