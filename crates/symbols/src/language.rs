//! Languages, and how that of a file is known.
//!
//! # Adding a language
//!
//! - Add a row to `languages!`, and a feature to the `Cargo.toml` of this crate that its `default` or `all-languages` includes.
//! - Add a module below `rules`, which the compiler asks for. The grammar is a dependency of the workspace. A language of lines, or one
//!   with parts in another, has a lexer in `lines` or `mixed` instead of a grammar and rules.
//! - Add a sample to `tests/languages/` and one with syntax errors to `errors/` there; `OUTLINE=overwrite` writes their outlines. Add the
//!   uses of a name to `tests/references.rs`.
//! - Update the number of languages in README.md here and in that of the repository, and the lists of languages in
//!   docs/commands/symbols.md, docs/build.md, the tool `symbols` of `comb-serve` and the hunts of symbols in `fuzz/`.
//!
//! A lexer in `skim` makes a language many times faster.

mod first_line;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::str::FromStr;

use tree_sitter::Language as Grammar;
use tree_sitter_language::LanguageFn;

use crate::lines::Lexer;
use crate::mixed::Splitter;
#[cfg(feature = "objc")]
use crate::mixed::objc;
use crate::skim;

/// Finder of the definitions of a language.
#[cfg_attr(not(feature = "all-languages"), allow(dead_code))]
pub(crate) enum Syntax {
    Grammar(LanguageFn),
    Lexer(Lexer),
    /// A lexer, and the parser of another language for the rest.
    Mixed(Language, Splitter),
}

impl From<LanguageFn> for Syntax {
    fn from(grammar: LanguageFn) -> Self {
        Self::Grammar(grammar)
    }
}

macro_rules! languages {
    ($(#[cfg(feature = $feature:literal)] $variant:ident: $name:literal, $title:literal, $separator:literal, $syntax:expr, [$($extension:literal)*] $([$($file:literal)*])?;)*) => {
        /// Language that a parser knows. Each is a cargo feature.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Language {
            $(#[cfg(feature = $feature)] #[doc = concat!($title, ".")] $variant,)*
        }

        impl Language {
            /// The languages of this build, by name.
            pub const ALL: &'static [Self] = &[$(#[cfg(feature = $feature)] Self::$variant,)*];

            /// Names, extensions and file names of the languages that only other builds know.
            const OF_OTHER_BUILDS: &'static [(&'static str, &'static [&'static str], &'static [&'static str])] =
                &[$(#[cfg(not(feature = $feature))] ($name, &[$($extension),*], &[$($($file),*)?]),)*];

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

            /// Names of its files, which further extensions may follow: `Makefile` stands for `Makefile.am`, too.
            pub fn file_names(self) -> &'static [&'static str] {
                match self { $(#[cfg(feature = $feature)] Self::$variant => &[$($($file),*)?],)* }
            }

            pub(crate) fn syntax(self) -> Syntax {
                match self { $(#[cfg(feature = $feature)] Self::$variant => $syntax.into(),)* }
            }
        }
    };
}

languages! {
    #[cfg(feature = "bash")] Bash: "bash", "Sh", ".", tree_sitter_bash::LANGUAGE, ["sh" "bash" "zsh" "ksh"];
    #[cfg(feature = "c")] C: "c", "C", "::", tree_sitter_c::LANGUAGE, ["c" "h"];
    #[cfg(feature = "c-sharp")] CSharp: "csharp", "C#", ".", tree_sitter_c_sharp::LANGUAGE, ["cs"];
    #[cfg(feature = "cpp")] Cpp: "cpp", "C++", "::", tree_sitter_cpp::LANGUAGE, ["cc" "cpp" "cxx" "c++" "hh" "hpp" "hxx" "h++" "ipp" "tpp" "inl" "tcc" "txx" "cppm" "ixx" "cu" "cuh"];
    #[cfg(feature = "d")] D: "d", "D", ".", tree_sitter_d::LANGUAGE, ["d" "di"];
    #[cfg(feature = "dockerfile")] Dockerfile: "dockerfile", "Dockerfile", ".", Syntax::Lexer(crate::lines::dockerfile::lex), ["dockerfile"] ["Dockerfile" "Containerfile"];
    #[cfg(feature = "elixir")] Elixir: "elixir", "Elixir", ".", tree_sitter_elixir::LANGUAGE, ["ex" "exs"];
    #[cfg(feature = "go")] Go: "go", "Go", ".", tree_sitter_go::LANGUAGE, ["go"];
    #[cfg(feature = "java")] Java: "java", "Java", ".", tree_sitter_java::LANGUAGE, ["java"];
    #[cfg(feature = "javascript")] JavaScript: "javascript", "JavaScript", ".", tree_sitter_javascript::LANGUAGE, ["js" "jsx" "mjs" "cjs"];
    #[cfg(feature = "kotlin")] Kotlin: "kotlin", "Kotlin", ".", tree_sitter_kotlin_ng::LANGUAGE, ["kt" "kts"];
    #[cfg(feature = "lua")] Lua: "lua", "Lua", ".", tree_sitter_lua::LANGUAGE, ["lua"];
    #[cfg(feature = "make")] Make: "make", "Make", ".", Syntax::Lexer(crate::lines::make::lex), ["mk" "mak"] ["Makefile" "makefile" "GNUmakefile" "Kbuild"];
    #[cfg(feature = "markdown")] Markdown: "markdown", "Markdown", " > ", Syntax::Lexer(crate::lines::markdown::lex), ["md" "markdown"];
    #[cfg(feature = "objc")] ObjC: "objc", "ObjectiveC", ".", Syntax::Mixed(Language::C, crate::mixed::objc::split), ["m"];
    #[cfg(feature = "objc")] ObjCpp: "objcpp", "ObjectiveC", ".", Syntax::Mixed(Language::Cpp, crate::mixed::objc::split), ["mm"];
    #[cfg(feature = "perl")] Perl: "perl", "Perl", "::", Syntax::Lexer(crate::lines::perl::lex), ["pl" "pm" "PL" "plx" "ph"];
    #[cfg(feature = "php")] Php: "php", "PHP", "\\", tree_sitter_php::LANGUAGE_PHP, ["php" "phtml"];
    #[cfg(feature = "protobuf")] Protobuf: "protobuf", "Protobuf", ".", tree_sitter_proto::LANGUAGE, ["proto"];
    #[cfg(feature = "python")] Python: "python", "Python", ".", tree_sitter_python::LANGUAGE, ["py" "pyi" "pyw"];
    #[cfg(feature = "ruby")] Ruby: "ruby", "Ruby", "::", tree_sitter_ruby::LANGUAGE, ["rb" "rake" "gemspec"];
    #[cfg(feature = "rust")] Rust: "rust", "Rust", "::", tree_sitter_rust::LANGUAGE, ["rs"];
    #[cfg(feature = "scala")] Scala: "scala", "Scala", ".", tree_sitter_scala::LANGUAGE, ["scala" "sc"];
    #[cfg(feature = "sql")] Sql: "sql", "SQL", ".", Syntax::Lexer(crate::lines::sql::lex), ["sql" "ddl" "pls" "plsql" "pks" "pkb"];
    #[cfg(feature = "swift")] Swift: "swift", "Swift", ".", tree_sitter_swift::LANGUAGE, ["swift"];
    #[cfg(feature = "typescript")] Tsx: "tsx", "TypeScript", ".", tree_sitter_typescript::LANGUAGE_TSX, ["tsx"];
    #[cfg(feature = "typescript")] TypeScript: "typescript", "TypeScript", ".", tree_sitter_typescript::LANGUAGE_TYPESCRIPT, ["ts" "mts" "cts"];
    #[cfg(feature = "vue")] Vue: "vue", "Vue", ".", Syntax::Mixed(Language::TypeScript, crate::mixed::vue::split), ["vue"];
    #[cfg(feature = "zig")] Zig: "zig", "Zig", ".", tree_sitter_zig::LANGUAGE, ["zig"];
}

impl Language {
    /// The grammar, unless a lexer begins.
    pub(crate) fn grammar(self) -> Option<Grammar> {
        match self.syntax() {
            Syntax::Grammar(grammar) => Some(grammar.into()),
            Syntax::Lexer(_) | Syntax::Mixed(..) => None,
        }
    }

    /// Extensions of files that may be in this language: its own, and `h` if the text of a header decides.
    pub fn possible_extensions(self) -> impl Iterator<Item = &'static str> {
        let has_headers = matches!(self.name(), "cpp" | "objc");
        self.extensions().iter().copied().chain(has_headers.then_some("h"))
    }

    /// Returns `true` if the language of a file is known by its name, or may be known by its text.
    pub fn knows(path: &Path) -> bool {
        Self::by_name(path).is_some() || is_header_without_extension(path)
    }

    /// Returns `true` if a file with this name and text is in no language, in any directory and with any `--lang`.
    pub fn is_never(name: &Path, text: &[u8]) -> bool {
        let may_be_header = Path::new("include").join(name);
        name.extension().is_none() && Self::of(&may_be_header, text).is_none()
    }

    /// Name of the language of a file, if other builds know it, but this one does not.
    pub(crate) fn of_other_build(path: &Path) -> Option<&'static str> {
        let languages = Self::OF_OTHER_BUILDS.iter();
        let by_extension =
            |extension: &str| languages.clone().find(|language| language.1.contains(&extension));
        let by_name = || languages.clone().find(|language| is_named(path, language.2));
        let extension = path.extension().and_then(OsStr::to_str);
        extension.and_then(by_extension).or_else(by_name).map(|&(name, ..)| name)
    }

    /// The part of a path by which the language of the file is known: its extension, or else its name.
    pub fn part_of_path(path: &Path) -> &OsStr {
        let name = if Self::by_extension(path).is_some() { path.extension() } else { path.file_name() };
        name.unwrap_or_default()
    }

    /// The language of a file by its extension or name. A `.h` file is Objective-C if it has classes of that, C++ if it has declarations
    /// that only C++ has, else C. A file without an extension is C++ if it has such declarations and is below `include`, else of the
    /// language that its first line names.
    pub(crate) fn of(path: &Path, text: &[u8]) -> Option<Self> {
        let by_name = Self::by_name(path);
        let is_header = by_name.is_some_and(|language| language.name() == "c")
            && path.extension().is_some_and(|extension| extension == "h");
        #[cfg(feature = "objc")]
        match by_name {
            Some(Self::C) if is_header && objc::is_header(text) => return Some(Self::ObjC),
            Some(Self::ObjC) if objc::is_matlab(text) => return None,
            _ => (),
        }
        #[cfg(feature = "cpp")]
        if (is_header || by_name.is_none() && is_header_without_extension(path))
            && skim::c::is_cplusplus(text)
        {
            return Some(Self::Cpp);
        }
        by_name.or_else(|| if path.extension().is_none() { first_line::language(text) } else { None })
    }

    fn by_name(path: &Path) -> Option<Self> {
        let by_file_name =
            || Self::ALL.iter().find(|language| is_named(path, language.file_names())).copied();
        Self::by_extension(path).or_else(by_file_name)
    }

    /// The language of most files with the extension of a path. A `.h` file may be C++, too.
    pub(crate) fn by_extension(path: &Path) -> Option<Self> {
        let extension = path.extension().map(OsStr::as_bytes)?;
        let known =
            |language: &&Self| language.extensions().iter().any(|known| known.as_bytes() == extension);
        Self::ALL.iter().find(known).copied()
    }
}

/// Returns `true` for a file with one of some names, which further extensions may follow.
fn is_named(path: &Path, names: &[&str]) -> bool {
    let Some(file) = path.file_name().map(OsStr::as_bytes) else { return false };
    names
        .iter()
        .any(|name| file.strip_prefix(name.as_bytes()).is_some_and(|rest| matches!(rest, [] | [b'.', ..])))
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
        if Language::OF_OTHER_BUILDS.iter().any(|(known, ..)| *known == lower) {
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
        let by_name = |language: &&Self| language.name() == lower;
        // Two languages have the title TypeScript.
        let known = |language: &&Self| {
            language.title().to_lowercase() == lower || language.extensions().contains(&lower.as_str())
        };
        let languages = Self::ALL.iter();
        let found = languages.clone().find(by_name).or_else(|| languages.clone().find(known));
        found.copied().ok_or_else(|| UnknownLanguage::new(name, &lower))
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    #[cfg(feature = "all-languages")]
    fn names_of_files_say_their_language() {
        for (path, expected) in [
            ("linux/Makefile", Some("make")),
            ("Makefile.am", Some("make")),
            ("include/Makefile", Some("make")),
            ("Makefile.md", Some("markdown")),
            ("Makefiles", None),
            ("docs/Dockerfile.alpine", Some("dockerfile")),
            ("a.dockerfile", Some("dockerfile")),
        ] {
            let path = Path::new(path);
            assert_eq!(Language::of(path, b"").map(Language::name), expected, "{}", path.display());
        }
        for (path, text, expected) in [
            ("a.h", "#import <A.h>\n@interface A\n@end\n", Some("objc")),
            ("a.h", "/* @end */\nint a;\n", Some("c")),
            ("a.m", "@implementation A\n@end\n", Some("objc")),
            ("a.m", "% A comment\nfunction a\n", None),
        ] {
            assert_eq!(
                Language::of(Path::new(path), text.as_bytes()).map(Language::name),
                expected,
                "{text}"
            );
        }
        let script = Language::of(Path::new("debian/rules"), b"#!/usr/bin/make -f\n");
        assert_eq!(script.map(Language::name), Some("make"));
        for (path, expected) in [("a/b.c", "c"), ("a/Makefile", "Makefile"), ("include/x", "x"), ("/", "")] {
            assert_eq!(Language::part_of_path(Path::new(path)), expected);
        }
    }

    #[test]
    fn each_language_is_known_by_its_name_and_its_extensions() {
        for &language in Language::ALL {
            for name in [language.name()].iter().chain(language.extensions()) {
                assert_eq!(name.to_uppercase().parse::<Language>().ok(), Some(language), "{name}");
            }
        }
    }

    #[test]
    fn languages_of_other_builds_are_named() {
        for &(name, extensions, files) in Language::OF_OTHER_BUILDS {
            let error = name.parse::<Language>().expect_err("a language of other builds");
            assert_eq!(error.to_string(), not_in_this_build(name));
            let paths = files.iter().map(PathBuf::from);
            for path in paths.chain([Path::new("a").with_extension(extensions[0])]) {
                assert_eq!((Language::of_other_build(&path), Language::knows(&path)), (Some(name), false));
            }
        }
        assert_eq!(Language::of_other_build(Path::new("a.c")), None);
        let error = "phyton".parse::<Language>().expect_err("no language").to_string();
        assert!(error.starts_with("unknown language 'phyton'; did you mean python? Languages: "), "{error}");
    }
}
