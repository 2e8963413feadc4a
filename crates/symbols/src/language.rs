//! Languages, and how that of a file is known.
//!
//! # Adding a language
//!
//! A row of `languages!` with a feature in the `Cargo.toml` of this crate, which `default` or `all-languages` there must include, and a module below `rules`, for which the compiler asks. Its
//! grammar is a dependency of the workspace. `tests/languages/` has a sample of each language, and `errors/` there one with syntax errors;
//! `OUTLINE=overwrite` writes what is expected of them. `tests/references.rs` has its uses of a name. README.md here and that of the repository have their number. docs/commands/symbols.md, docs/build.md,
//! the tool `symbols` of `comb-serve` and the hunts of symbols in `fuzz/` list the languages. A lexer in `skim` makes one many times faster.

mod script;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::str::FromStr;

use tree_sitter::Language as Grammar;

use crate::skim;

macro_rules! languages {
    ($(#[cfg(feature = $feature:literal)] $variant:ident: $name:literal, $title:literal, $separator:literal, $grammar:expr, [$($extension:literal)*];)*) => {
        /// Language that a parser knows. Each is a cargo feature.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Language {
            $(#[cfg(feature = $feature)] #[doc = concat!($title, ".")] $variant,)*
        }

        impl Language {
            /// The languages of this build, by name.
            pub const ALL: &'static [Self] = &[$(#[cfg(feature = $feature)] Self::$variant,)*];

            /// Names and extensions of the languages that only other builds know.
            const OF_OTHER_BUILDS: &'static [(&'static str, &'static [&'static str])] =
                &[$(#[cfg(not(feature = $feature))] ($name, &[$($extension),*]),)*];

            /// Name that flags and outputs have.
            pub fn name(self) -> &'static str {
                match self { $(#[cfg(feature = $feature)] Self::$variant => $name,)* }
            }

            /// Name that Universal Ctags has.
            pub(crate) fn title(self) -> &'static str {
                match self { $(#[cfg(feature = $feature)] Self::$variant => $title,)* }
            }

            /// Separator of a scope and a name in it.
            pub(crate) fn separator(self) -> &'static str {
                match self { $(#[cfg(feature = $feature)] Self::$variant => $separator,)* }
            }

            /// Extensions of its files.
            pub fn extensions(self) -> &'static [&'static str] {
                match self { $(#[cfg(feature = $feature)] Self::$variant => &[$($extension),*],)* }
            }

            pub(crate) fn grammar(self) -> Grammar {
                match self { $(#[cfg(feature = $feature)] Self::$variant => $grammar.into(),)* }
            }
        }
    };
}

languages! {
    #[cfg(feature = "bash")] Bash: "bash", "Sh", ".", tree_sitter_bash::LANGUAGE, ["sh" "bash" "zsh" "ksh"];
    #[cfg(feature = "c")] C: "c", "C", "::", tree_sitter_c::LANGUAGE, ["c" "h"];
    #[cfg(feature = "c-sharp")] CSharp: "csharp", "C#", ".", tree_sitter_c_sharp::LANGUAGE, ["cs"];
    #[cfg(feature = "cpp")] Cpp: "cpp", "C++", "::", tree_sitter_cpp::LANGUAGE, ["cc" "cpp" "cxx" "c++" "hh" "hpp" "hxx" "h++" "ipp" "tpp" "inl" "cppm" "ixx" "cu" "cuh"];
    #[cfg(feature = "d")] D: "d", "D", ".", tree_sitter_d::LANGUAGE, ["d" "di"];
    #[cfg(feature = "go")] Go: "go", "Go", ".", tree_sitter_go::LANGUAGE, ["go"];
    #[cfg(feature = "java")] Java: "java", "Java", ".", tree_sitter_java::LANGUAGE, ["java"];
    #[cfg(feature = "javascript")] JavaScript: "javascript", "JavaScript", ".", tree_sitter_javascript::LANGUAGE, ["js" "jsx" "mjs" "cjs"];
    #[cfg(feature = "kotlin")] Kotlin: "kotlin", "Kotlin", ".", tree_sitter_kotlin_ng::LANGUAGE, ["kt" "kts"];
    #[cfg(feature = "lua")] Lua: "lua", "Lua", ".", tree_sitter_lua::LANGUAGE, ["lua"];
    #[cfg(feature = "php")] Php: "php", "PHP", "\\", tree_sitter_php::LANGUAGE_PHP, ["php" "phtml"];
    #[cfg(feature = "python")] Python: "python", "Python", ".", tree_sitter_python::LANGUAGE, ["py" "pyi" "pyw"];
    #[cfg(feature = "ruby")] Ruby: "ruby", "Ruby", "::", tree_sitter_ruby::LANGUAGE, ["rb" "rake" "gemspec"];
    #[cfg(feature = "rust")] Rust: "rust", "Rust", "::", tree_sitter_rust::LANGUAGE, ["rs"];
    #[cfg(feature = "scala")] Scala: "scala", "Scala", ".", tree_sitter_scala::LANGUAGE, ["scala" "sc"];
    #[cfg(feature = "swift")] Swift: "swift", "Swift", ".", tree_sitter_swift::LANGUAGE, ["swift"];
    #[cfg(feature = "typescript")] Tsx: "tsx", "TypeScript", ".", tree_sitter_typescript::LANGUAGE_TSX, ["tsx"];
    #[cfg(feature = "typescript")] TypeScript: "typescript", "TypeScript", ".", tree_sitter_typescript::LANGUAGE_TYPESCRIPT, ["ts" "mts" "cts"];
    #[cfg(feature = "zig")] Zig: "zig", "Zig", ".", tree_sitter_zig::LANGUAGE, ["zig"];
}

impl Language {
    /// Returns `true` if the language of a file is known by its name, or may be known by its text.
    pub fn knows(path: &Path) -> bool {
        Self::by_extension(path).is_some() || is_header_without_extension(path)
    }

    /// Name of the language of a file, if other builds know it, but this one does not.
    pub(crate) fn of_other_build(path: &Path) -> Option<&'static str> {
        let extension = path.extension()?.to_str()?;
        let known = Self::OF_OTHER_BUILDS.iter().find(|(_, extensions)| extensions.contains(&extension));
        known.map(|&(name, _)| name)
    }

    /// The language of a file by its extension. A `.h` file is C++ if it has declarations that only C++ has, else C, and so is a file
    /// without an extension below `include`. Other files without an extension are of the language of their interpreter.
    pub(crate) fn of(path: &Path, text: &[u8]) -> Option<Self> {
        let by_name = Self::by_extension(path);
        let is_header = by_name.is_some_and(|language| language.name() == "c")
            && path.extension().is_some_and(|extension| extension == "h");
        #[cfg(feature = "cpp")]
        if (is_header || is_header_without_extension(path)) && skim::c::is_cplusplus(text) {
            return Some(Self::Cpp);
        }
        by_name.or_else(|| if path.extension().is_none() { script::language(text) } else { None })
    }

    fn by_extension(path: &Path) -> Option<Self> {
        let extension = path.extension().map(OsStr::as_bytes)?;
        let known =
            |language: &&Self| language.extensions().iter().any(|known| known.as_bytes() == extension);
        Self::ALL.iter().find(known).copied()
    }
}

/// Returns `true` for names such as those of the headers of the C++ library.
fn is_header_without_extension(path: &Path) -> bool {
    cfg!(feature = "cpp") && path.extension().is_none() && path.iter().any(|part| part == "include")
}

/// Name of no language of this build.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub struct UnknownLanguage(String);

impl UnknownLanguage {
    fn new(name: &str, lower: &str) -> Self {
        if Language::OF_OTHER_BUILDS.iter().any(|(known, _)| *known == lower) {
            return Self(not_in_this_build(lower));
        }
        let names: Vec<_> = Language::ALL.iter().map(|language| language.name()).collect();
        let nearest = names.iter().min_by_key(|known| strsim::levenshtein(known, lower)).unwrap_or(&"c");
        let languages = names.join(", ");
        Self(format!("unknown language '{name}'; did you mean {nearest}? Languages: {languages}"))
    }
}

/// Says how a language comes to be known.
pub(crate) fn not_in_this_build(language: &str) -> String {
    format!("this build does not know {language}; build with the feature all-languages")
}

impl FromStr for Language {
    type Err = UnknownLanguage;

    /// Takes names, in any letter case, and extensions.
    fn from_str(name: &str) -> Result<Self, UnknownLanguage> {
        let lower = name.to_lowercase();
        let known = |language: &&Self| {
            language.name() == lower
                || language.title().to_lowercase() == lower
                || language.extensions().contains(&lower.as_str())
        };
        Self::ALL.iter().find(known).copied().ok_or_else(|| UnknownLanguage::new(name, &lower))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_of_other_builds_are_named() {
        for &(name, extensions) in Language::OF_OTHER_BUILDS {
            let error = name.parse::<Language>().expect_err("a language of other builds");
            assert_eq!(error.to_string(), not_in_this_build(name));
            let path = Path::new("a").with_extension(extensions[0]);
            assert_eq!((Language::of_other_build(&path), Language::knows(&path)), (Some(name), false));
        }
        assert_eq!(Language::of_other_build(Path::new("a.c")), None);
        let error = "phyton".parse::<Language>().expect_err("no language").to_string();
        assert!(error.starts_with("unknown language 'phyton'; did you mean python? Languages: "), "{error}");
    }
}
