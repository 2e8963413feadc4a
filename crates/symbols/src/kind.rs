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
