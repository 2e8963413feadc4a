//! Definitions around matches of `comb grep`: the parsers of `comb symbols`, through the interface of the search.

use finecomb_grep::NewScopeFinder;

/// Creates a scope finder; `None` in a build without parsers.
#[cfg(not(feature = "symbols"))]
pub(crate) const NEW_SCOPE_FINDER: Option<NewScopeFinder> = None;

/// Creates a scope finder; `None` in a build without parsers.
#[cfg(feature = "symbols")]
pub(crate) const NEW_SCOPE_FINDER: Option<NewScopeFinder> = Some(|| Box::new(parsing::Finder::default()));

#[cfg(feature = "symbols")]
mod parsing {
    use std::path::Path;

    use finecomb_grep::{Scope, ScopeFinder};
    use finecomb_symbols::{Language, NotParsed, ScopeParser};

    /// Scope finder that parses source texts.
    #[derive(Default)]
    pub(super) struct Finder(ScopeParser);

    impl ScopeFinder for Finder {
        fn knows(&self, path: &Path) -> bool {
            Language::knows(path)
        }

        fn size_limit(&self) -> usize {
            ScopeParser::SIZE_LIMIT
        }

        fn scopes(&mut self, path: &Path, text: &[u8]) -> Result<Vec<Scope>, String> {
            let found = self.0.scopes(path, text).map_err(|error: NotParsed| error.to_string())?;
            let as_text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let scope = |found: finecomb_symbols::EnclosingScope| Scope {
                kind: found.kind.name(),
                name: as_text(&text[found.name]),
                scope: (!found.scope.is_empty()).then(|| as_text(&found.scope)),
                extent: found.extent,
                line: found.line,
            };
            Ok(found.into_iter().map(scope).collect())
        }
    }
}
