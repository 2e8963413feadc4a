//! Macros with a known meaning by their names: definitions and attributes.

use std::ops::Range;

use memchr::{memchr, memmem};

use super::lexer::{CLexer, WORD, is};
use crate::kind::Kind;

/// Returns `true` for a name in capitals, as macros have.
pub(crate) fn is_macro(word: &[u8]) -> bool {
    word.len() > 1 && word.iter().any(u8::is_ascii_uppercase) && !word.iter().any(u8::is_ascii_lowercase)
}

/// Definition by an invocation of a macro, if the name of the macro says that it is one.
pub(super) fn defined(
    source: &[u8],
    name: Range<usize>,
    parameters: Range<usize>,
) -> Option<(Kind, Range<usize>)> {
    let word = &source[name];
    if !is_macro(word) || !defines_object(word) {
        return None;
    }
    let argument = match word.starts_with(b"DEFINE_PER_CPU") {
        true => last_argument(source, parameters)?,
        false => first_argument(source, parameters)?,
    };
    Some((Kind::Variable, argument))
}

/// Returns `true` for macros that define a variable with the name that they are given. Most other macros with `DEFINE` in their names
/// make other names from it: `DEFINE_EVENT(class, name)` defines `trace_name`.
fn defines_object(word: &[u8]) -> bool {
    const BEGINNINGS: [&[u8]; 8] = [
        b"DEFINE_DMA_UNMAP_",
        b"DEFINE_PER_CPU",
        b"DEFINE_STATIC_CALL",
        b"DEFINE_STATIC_KEY_",
        b"DEFINE_XARRAY",
        b"DECLARE_COMPLETION",
        b"DECLARE_RWSEM",
        b"DECLARE_WAIT_QUEUE_HEAD",
    ];
    const ENDINGS: [&[u8]; 29] = [
        b"_COOKIE",
        b"_DEVLIST",
        b"DEFINE_DEBUGFS_ATTRIBUTE",
        b"DEFINE_DEBUGFS_ATTRIBUTE_SIGNED",
        b"_FOPS",
        b"_GUID",
        b"HASHTABLE",
        b"_IDA",
        b"_IDR",
        b"_KFIFO",
        b"_LED_TRIGGER",
        b"_MOD_OPT_ADAPTER_NR",
        b"_MTREE",
        b"MUTEX",
        b"_PM_OPS",
        b"_QBCM",
        b"_QNODE",
        b"_RATELIMIT_STATE",
        b"RWLOCK",
        b"RWSEM",
        b"SEMAPHORE",
        b"SEQLOCK",
        b"DEFINE_SIMPLE_ATTRIBUTE",
        b"SPINLOCK",
        b"SPUFS_ATTRIBUTE",
        b"SRCU",
        b"_TIMER",
        b"_WORK",
        b"_WW_CLASS",
    ];
    word.ends_with(b"LIST_HEAD")
        || BEGINNINGS.iter().any(|beginning| word.starts_with(beginning))
        || memmem::find(word, b"DEFINE").is_some() && ENDINGS.iter().any(|ending| word.ends_with(ending))
        || matches!(word, b"DECLARE_WORK" | b"DECLARE_DELAYED_WORK")
}

/// Returns `true` for macros that define a test case, whose name follows that of its suite.
fn defines_test(word: &[u8]) -> bool {
    let mut parts = word.rsplit(|&byte| byte == b'_').peekable();
    // `TEST_F_TIMEOUT(fixture, name, 60)`
    let is_of_fixture = |part: &[u8], before: Option<&&[u8]>| {
        matches!(part, b"F" | b"P") && before.is_some_and(|before| *before == b"TEST")
    };
    let mut is_test = word.ends_with(b"TEST");
    while let Some(part) = parts.next() {
        is_test |= is_of_fixture(part, parts.peek());
    }
    is_test
}

/// Name of the function that an invocation of a macro defines, as `SYSCALL_DEFINE2(name, …)` and `TEST(suite, name)` do.
pub(super) fn function_name(source: &[u8], name: Range<usize>, group: Range<usize>) -> Option<Range<usize>> {
    let word = &source[name];
    if !is_macro(word) {
        return None;
    }
    if let Some(title) = title(source, group.clone()) {
        return Some(title);
    }
    let first = first_argument(source, group.clone())?;
    let second = defines_test(word).then(|| second_argument(source, first.end)).flatten();
    Some(second.unwrap_or(first))
}

/// Returns `true` for macros that define a function if a semicolon follows the braces, too. Others define a type or a variable then:
/// `FIXTURE(name) { … };`.
pub(super) fn always_defines_function(word: &[u8]) -> bool {
    memmem::find(word, b"DEFINE").is_some() || memmem::find(word, b"TEST").is_some()
}

/// The text of the first argument of a group, if it is a literal: `TEST_CASE("title")`.
fn title(source: &[u8], group: Range<usize>) -> Option<Range<usize>> {
    let start = group.start + 1 + memchr(b'"', &source[group.start + 1..group.end])?;
    let is_first = source[group.start + 1..start].trim_ascii().is_empty();
    let mut lexer = CLexer { source, at: start };
    lexer.literal();
    let title = start + 1..lexer.at - 1;
    (is_first && lexer.at <= group.end && source.get(title.end) == Some(&b'"') && !title.is_empty())
        .then_some(title)
}

/// The first argument of a group, if it is a name.
fn first_argument(source: &[u8], group: Range<usize>) -> Option<Range<usize>> {
    argument(source, group.start + 1)
}

/// The argument after a first one that ends here, if it is a name.
fn second_argument(source: &[u8], end: usize) -> Option<Range<usize>> {
    let mut lexer = CLexer { source, at: end };
    lexer.space();
    (lexer.byte() == Some(b',')).then(|| argument(source, lexer.at + 1)).flatten()
}

/// The argument that begins here, if it is a name.
fn argument(source: &[u8], start: usize) -> Option<Range<usize>> {
    let mut lexer = CLexer { source, at: start };
    lexer.space();
    let start = lexer.at;
    let word = lexer.word();
    let end = lexer.at;
    let is_name =
        word.first().is_some_and(|byte| !byte.is_ascii_digit()) && !matches!(word, b"void" | b"VOID");
    (is_name && matches!(lexer.next_significant(), Some(b',' | b')'))).then_some(start..end)
}

/// The last argument of a group, if it is a name.
fn last_argument(source: &[u8], group: Range<usize>) -> Option<Range<usize>> {
    let inner = source[group.start + 1..group.end - 1].trim_ascii_end();
    let end = group.start + 1 + inner.len();
    let name = inner.iter().rev().take_while(|&&byte| is(byte, WORD)).count();
    (name > 0 && !source[end - name].is_ascii_digit()).then_some(end - name..end)
}

/// Words that stand for attributes in the Linux kernel and elsewhere. The grammar takes them for types.
pub(super) fn is_attribute(word: &[u8]) -> bool {
    const ATTRIBUTES: [&[u8]; 65] = [
        b"____cacheline_aligned",
        b"____cacheline_aligned_in_smp",
        b"__always_inline",
        b"__always_unused",
        b"__attribute_const__",
        b"__bitwise",
        b"__cacheline_aligned",
        b"__cacheline_aligned_in_smp",
        b"__cold",
        b"__cpuidle",
        b"__cpumask_var_read_mostly",
        b"__designated_init",
        b"__exit",
        b"__exit_refok",
        b"__exitdata",
        b"__extension__",
        b"__flatten",
        b"__force",
        b"__forceinline",
        b"__hot",
        b"__init",
        b"__init_memblock",
        b"__init_or_module",
        b"__initconst",
        b"__initdata",
        b"__initdata_memblock",
        b"__initdata_or_module",
        b"__iomem",
        b"__kernel",
        b"__kprobes",
        b"__latent_entropy",
        b"__malloc",
        b"__maybe_unused",
        b"__meminit",
        b"__meminitdata",
        b"__must_check",
        b"__net_exit",
        b"__net_init",
        b"__net_initdata",
        b"__nocast",
        b"__noclone",
        b"__noreturn",
        b"__nosavedata",
        b"__packed",
        b"__paginginit",
        b"__percpu",
        b"__private",
        b"__pure",
        b"__randomize_layout",
        b"__rcu",
        b"__read_mostly",
        b"__ref",
        b"__refdata",
        b"__ro_after_init",
        b"__sched",
        b"__softirq_entry",
        b"__used",
        b"__user",
        b"__visible",
        b"__weak",
        b"asmlinkage",
        b"noinline",
        b"noinline_for_stack",
        b"nokprobe_inline",
        b"notrace",
    ];
    matches!(word.first(), Some(b'_' | b'a' | b'n')) && ATTRIBUTES.binary_search(&word).is_ok()
}

/// Attributes that have arguments in parentheses.
pub(super) fn takes_arguments(word: &[u8]) -> bool {
    matches!(
        word,
        b"__attribute__"
            | b"__attribute"
            | b"__aligned"
            | b"__acquires"
            | b"__releases"
            | b"__must_hold"
            | b"__printf"
            | b"__scanf"
            | b"__section"
            | b"__alloc_size"
            | b"__realloc_size"
            | b"__counted_by"
            | b"__declspec"
            | b"alignas"
            | b"_Alignas"
            | b"noexcept"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_known_wherever_they_are_in_the_list() {
        for word in
            "____cacheline_aligned __attribute_const__ __init_memblock __nosavedata __weak notrace".split(' ')
        {
            assert!(is_attribute(word.as_bytes()), "{word}");
        }
        assert!(!is_attribute(b"__name") && !is_attribute(b"name"));
    }
}
