use proptest::prelude::*;

use super::*;

/// The text that the parser gets.
fn prepared(source: &[u8]) -> Vec<u8> {
    let mut out = Skimmed::default();
    prepare(source, &mut out);
    out.without_left_out(source).into_owned()
}

#[test]
fn code_that_the_grammar_takes_stays() {
    let sample = include_bytes!("../../../tests/languages/kotlin.kt");
    let after = prepared(sample);
    let words = |text| {
        let text = String::from_utf8_lossy(text).into_owned();
        let words = text.split_whitespace().filter(|word| !word.starts_with('@'));
        words.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(words(sample), words(&after));
}

#[test]
fn what_the_grammar_does_not_take_is_replaced() {
    for (before, after) in [
        ("class A { val x = 1 }", "class A { val x = 1\n}"),
        ("class A {val x = 1}", "class A {val x = 1}"),
        ("context(a: A) fun f()", "              fun f()"),
        ("when (a) { is B if c -> d }", "when (a) { is B      -> d\n}"),
        ("x = $$\"a $b\"", "x =   \"    \""),
        ("class A\n@B constructor()", "class A @B constructor()"),
        ("if (a) set = b", "if (a) se_ = b"),
        ("@A\n@B(c)\nopen inner class D", "  \n     \nopen inner class D"),
        ("@A open val d", "@A open val d"),
    ] {
        assert_eq!(String::from_utf8_lossy(&prepared(before.as_bytes())), after);
    }
}

proptest! {
    #[test]
    fn any_text_keeps_its_length(parts in prop::collection::vec(prop::sample::select(vec![
        "{", "}", "(", ")", "[", "]", "\"", "\"\"\"", "$", "${", "'", "`", "\\", "/*", "*/", "//", "\n", " ", "@", "a", "->", "-", "?::",
        "class ", "when ", "if ", "context", "set", "get", "where ", "suspend", "field =", "constructor", "open", ":", ";", "=", ".", "\u{e9}",
    ]), 0..60)) {
        let text = parts.concat();
        prop_assert_eq!(prepared(text.as_bytes()).len(), text.len());
    }
}
