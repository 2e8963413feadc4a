//! Expressions whose matches stay within a line.

use regex_syntax::hir::{
    Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Look, Repetition,
};

/// Rewrites an expression so that it has only the matches without a line feed, and no captures. `look` replaces its assertions.
pub fn within_lines(expression: &Hir, look: impl Fn(Look) -> Look) -> Hir {
    rewrite(expression, &look)
}

fn rewrite(expression: &Hir, look: &dyn Fn(Look) -> Look) -> Hir {
    let inner = |part: &Hir| rewrite(part, look);
    match expression.kind() {
        HirKind::Literal(literal) if literal.0.contains(&b'\n') => Hir::fail(),
        HirKind::Empty | HirKind::Literal(_) => expression.clone(),
        HirKind::Look(assertion) => Hir::look(look(*assertion)),
        HirKind::Class(class) => Hir::class(without_line_feed(class.clone())),
        HirKind::Repetition(repetition) => {
            let sub = Box::new(inner(&repetition.sub));
            Hir::repetition(Repetition { sub, ..repetition.clone() })
        }
        HirKind::Capture(capture) => inner(&capture.sub),
        HirKind::Concat(parts) => Hir::concat(parts.iter().map(inner).collect()),
        HirKind::Alternation(parts) => Hir::alternation(parts.iter().map(inner).collect()),
    }
}

fn without_line_feed(mut class: Class) -> Class {
    match &mut class {
        Class::Unicode(class) => class.difference(&ClassUnicode::new([ClassUnicodeRange::new('\n', '\n')])),
        Class::Bytes(class) => class.difference(&ClassBytes::new([ClassBytesRange::new(b'\n', b'\n')])),
    }
    class
}
