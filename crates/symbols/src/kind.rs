//! Kinds of definitions, in one vocabulary for all languages.

use std::fmt;
use std::str::FromStr;

/// Kind of a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Kind {
    /// Class.
    Class,
    /// Constant.
    Constant,
    /// Enumeration.
    Enum,
    /// Member of an enumeration.
    Enumerator,
    /// Member variable of a record or a class.
    Field,
    /// Function outside of a type.
    Function,
    /// Heading of a text.
    Heading,
    /// Index of a table in a database.
    Index,
    /// Interface or protocol.
    Interface,
    /// Macro.
    Macro,
    /// Function that belongs to a type.
    Method,
    /// Module or package.
    Module,
    /// Namespace.
    Namespace,
    /// Property with accessors.
    Property,
    /// Record.
    Struct,
    /// Table of a database.
    Table,
    /// Target of a build: of a rule, or a stage of an image.
    Target,
    /// Trait or mixin.
    Trait,
    /// Trigger of a table in a database.
    Trigger,
    /// Type alias.
    Typedef,
    /// Union.
    Union,
    /// Variable outside of functions.
    Variable,
    /// View of a database.
    View,
}

impl Kind {
    /// All kinds, by name.
    pub const ALL: [Self; 23] = [
        Self::Class,
        Self::Constant,
        Self::Enum,
        Self::Enumerator,
        Self::Field,
        Self::Function,
        Self::Heading,
        Self::Index,
        Self::Interface,
        Self::Macro,
        Self::Method,
        Self::Module,
        Self::Namespace,
        Self::Property,
        Self::Struct,
        Self::Table,
        Self::Target,
        Self::Trait,
        Self::Trigger,
        Self::Typedef,
        Self::Union,
        Self::Variable,
        Self::View,
    ];

    /// Name of the kind, as flags and outputs have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Class => "class",
            Self::Constant => "constant",
            Self::Enum => "enum",
            Self::Enumerator => "enumerator",
            Self::Field => "field",
            Self::Function => "function",
            Self::Heading => "heading",
            Self::Index => "index",
            Self::Interface => "interface",
            Self::Macro => "macro",
            Self::Method => "method",
            Self::Module => "module",
            Self::Namespace => "namespace",
            Self::Property => "property",
            Self::Struct => "struct",
            Self::Table => "table",
            Self::Target => "target",
            Self::Trait => "trait",
            Self::Trigger => "trigger",
            Self::Typedef => "typedef",
            Self::Union => "union",
            Self::Variable => "variable",
            Self::View => "view",
        }
    }

    /// Returns `true` for definitions that have others or code within them.
    pub(crate) fn is_scope(self) -> bool {
        !matches!(self, Self::Constant | Self::Enumerator | Self::Field | Self::Variable)
    }

    /// Returns `true` for values, which are listed after types and functions of the same name.
    pub fn is_value(self) -> bool {
        matches!(self, Self::Constant | Self::Enumerator | Self::Field | Self::Property | Self::Variable)
    }

    /// Returns `true` if a signature has a keyword of the kind, such as `struct` or `fn`: before the name or, as in Go, after it.
    pub fn is_said_by(self, signature: &str, name: &str) -> bool {
        let is_word = |char: char| char.is_alphanumeric() || char == '_';
        let is_whole = |&(at, _): &(usize, &str)| {
            let after = &signature[at + name.len()..];
            !signature[..at].ends_with(is_word) && !after.starts_with(is_word)
        };
        let Some((at, _)) = signature.match_indices(name).find(is_whole) else { return false };
        let after = &signature[at + name.len()..];
        let part = if at == 0 { after.split('{').next().unwrap_or_default() } else { &signature[..at] };
        part.split(|char| !is_word(char)).any(|word| self.keywords().contains(&word))
    }

    /// Keywords of languages that say the kind.
    fn keywords(self) -> &'static [&'static str] {
        match self {
            Self::Class => &["class"],
            Self::Constant => &["const"],
            Self::Enum => &["enum"],
            Self::Function | Self::Method => &["def", "fn", "fun", "func", "function"],
            Self::Index => &["INDEX", "index"],
            Self::Interface => &["interface", "protocol"],
            Self::Macro => &["alias", "define", "macro", "macro_rules"],
            Self::Module => &["mod", "module", "package"],
            Self::Namespace => &["namespace"],
            Self::Struct => &["struct"],
            Self::Table => &["TABLE", "table"],
            Self::Trait => &["trait"],
            Self::Trigger => &["TRIGGER", "trigger"],
            Self::Typedef => &["type", "typealias", "typedef", "using"],
            Self::Union => &["union"],
            Self::Property | Self::Variable => &["let", "val", "var"],
            Self::View => &["VIEW", "view"],
            Self::Enumerator | Self::Field | Self::Heading | Self::Target => &[],
        }
    }

    /// The kind of such a definition in a type: functions are methods there, variables are fields.
    pub(crate) fn in_type(self) -> Self {
        match self {
            Self::Function => Self::Method,
            Self::Variable => Self::Field,
            kind => kind,
        }
    }
}

/// Name of the kind of a definition, or that of uses.
pub(crate) fn label(kind: Option<Kind>) -> &'static str {
    kind.map_or("reference", Kind::name)
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Name that is no kind.
#[derive(Clone, Debug, thiserror::Error)]
#[error("unknown kind '{name}'; kinds are {}", Kind::ALL.map(Kind::name).join(", "))]
pub struct UnknownKind {
    name: String,
}

impl FromStr for Kind {
    type Err = UnknownKind;

    fn from_str(name: &str) -> Result<Self, UnknownKind> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.name() == name)
            .ok_or_else(|| UnknownKind { name: name.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_say_the_kind_by_a_keyword_before_the_name_or_after_it() {
        for (kind, name, signature, expected) in [
            (Kind::Struct, "page", "struct page", true),
            (Kind::Struct, "Order", "pub(crate) struct Order<'a, T>", true),
            (Kind::Struct, "Pair", "Pair[K comparable, V any] struct { Key K }", true),
            (Kind::Struct, "Point", "pub const Point =", false),
            (Kind::Struct, "struct_x", "struct struct_x", true),
            (Kind::Class, "Color", "enum class Color : int", true),
            (Kind::Function, "add", "pub fn add(a: u32)", true),
            (Kind::Function, "add", "int add(void)", false),
            (Kind::Function, "f", "def f(fn):", true),
            (Kind::Function, "arrow", "arrow = function(x)", true),
            (Kind::Function, "twice", "twice = n =>", false),
            (Kind::Property, "size", "def size(self):", false),
            (Kind::Macro, "MAX", "#define MAX", true),
            (Kind::Field, "next", "struct entry *next;", false),
            (Kind::Method, "operator==", "bool operator==(A a)", false),
            (Kind::Variable, "x", "static int x", false),
        ] {
            assert_eq!(kind.is_said_by(signature, name), expected, "{kind} {signature}");
        }
    }
}
