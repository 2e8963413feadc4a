//! The part of TOML that the files of formats need: texts, tables, inline tables of texts, and arrays of tables.
//!
//! A library of TOML would bring dates, numbers and a tree of values that no format has, and packages for them. Anything else is refused
//! with its line. A test compares documents with those that a library reads.

/// An error in a file, with its line, from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mistake {
    pub(crate) line: usize,
    pub(crate) message: String,
}

/// A table with its entries. The first one of a document has no name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Table {
    pub(crate) name: String,
    /// Whether it is an element of an array: `[[name]]`.
    pub(crate) is_element: bool,
    pub(crate) line: usize,
    pub(crate) entries: Vec<Entry>,
}

/// A key with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) line: usize,
    pub(crate) key: String,
    pub(crate) value: Value,
}

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Text(String),
    /// An inline table: `{ key = "text" }`.
    Table(Vec<(String, String)>),
}

/// Parses a document into its tables, in order.
pub(crate) fn parse(text: &str) -> Result<Vec<Table>, Mistake> {
    let mut reader = Reader { rest: text.strip_prefix('\u{FEFF}').unwrap_or(text), line: 1 };
    let mut tables = vec![Table { line: 1, ..Table::default() }];
    loop {
        reader.skip_lines()?;
        let line = reader.line;
        if reader.rest.is_empty() {
            return Ok(tables);
        }
        if reader.rest.starts_with('[') {
            let table = reader.table(line)?;
            let is_other = |known: &Table| known.name != table.name || (known.is_element && table.is_element);
            let is_key = tables[0].entries.iter().any(|entry| entry.key == table.name);
            if is_key || !tables[1..].iter().all(is_other) {
                return Err(reader.mistake(format!("the table '{}' is there twice", table.name)));
            }
            tables.push(table);
        } else {
            let (key, value) = (reader.key_and_equals()?, reader.value()?);
            let entries = tables.last_mut().map(|table| &mut table.entries);
            let Some(entries) = entries.filter(|entries| entries.iter().all(|entry| entry.key != key)) else {
                return Err(Mistake { line, message: format!("the key '{key}' is there twice") });
            };
            entries.push(Entry { line, key, value });
        }
        reader.end_of_line()?;
    }
}

/// The rest of a document.
struct Reader<'t> {
    rest: &'t str,
    line: usize,
}

impl<'t> Reader<'t> {
    fn mistake(&self, message: impl Into<String>) -> Mistake {
        Mistake { line: self.line, message: message.into() }
    }

    /// Takes this many bytes.
    fn take(&mut self, length: usize) -> &'t str {
        let (taken, rest) = self.rest.split_at(length);
        self.rest = rest;
        self.line += taken.matches('\n').count();
        taken
    }

    /// Takes a text if it is next.
    fn takes(&mut self, text: &str) -> bool {
        let is_next = self.rest.starts_with(text);
        if is_next {
            self.take(text.len());
        }
        is_next
    }

    fn skip_blanks(&mut self) {
        let blanks = self.rest.len() - self.rest.trim_start_matches([' ', '\t']).len();
        self.take(blanks);
    }

    /// Skips a comment, if there is one, up to the end of its line.
    fn skip_comment(&mut self) -> Result<(), Mistake> {
        if !self.rest.starts_with('#') {
            return Ok(());
        }
        let comment = self.take(self.rest.find('\n').unwrap_or(self.rest.len()));
        let comment = comment.strip_suffix('\r').unwrap_or(comment);
        match comment.chars().all(is_text) {
            true => Ok(()),
            false => Err(self.mistake("a control character in a comment")),
        }
    }

    /// Skips blank lines, comments, and blanks before the next key.
    fn skip_lines(&mut self) -> Result<(), Mistake> {
        loop {
            self.skip_blanks();
            self.skip_comment()?;
            if !self.takes("\n") && !self.takes("\r\n") {
                return Ok(());
            }
        }
    }

    fn end_of_line(&mut self) -> Result<(), Mistake> {
        self.skip_blanks();
        self.skip_comment()?;
        if self.rest.is_empty() || self.takes("\n") || self.takes("\r\n") {
            return Ok(());
        }
        Err(self.mistake("expected the end of the line"))
    }

    /// Parses `[name]` or `[[name]]`.
    fn table(&mut self, line: usize) -> Result<Table, Mistake> {
        self.take(1);
        let is_element = self.takes("[");
        self.skip_blanks();
        let name = self.key()?;
        self.skip_blanks();
        let end = if is_element { "]]" } else { "]" };
        if !self.takes(end) {
            return Err(self.mistake(format!("expected '{end}' after the name of a table")));
        }
        Ok(Table { name, is_element, line, entries: Vec::new() })
    }

    fn key(&mut self) -> Result<String, Mistake> {
        if self.rest.starts_with(['"', '\'']) {
            return self.single_line();
        }
        let is_of_key = |char: char| char.is_ascii_alphanumeric() || char == '_' || char == '-';
        match self.rest.find(|char| !is_of_key(char)).unwrap_or(self.rest.len()) {
            0 => Err(self.mistake("expected a key")),
            length => Ok(self.take(length).to_owned()),
        }
    }

    fn key_and_equals(&mut self) -> Result<String, Mistake> {
        let key = self.key()?;
        self.skip_blanks();
        if self.rest.starts_with('.') {
            return Err(self.mistake("a key with a dot must be in quotes"));
        }
        if !self.takes("=") {
            return Err(self.mistake(format!("expected '=' after the key '{key}'")));
        }
        self.skip_blanks();
        Ok(key)
    }

    fn value(&mut self) -> Result<Value, Mistake> {
        match self.rest.as_bytes().first() {
            Some(b'{') => self.inline_table().map(Value::Table),
            Some(b'"' | b'\'') => self.text().map(Value::Text),
            _ => Err(self.mistake("expected a text in quotes or a table in braces")),
        }
    }

    fn inline_table(&mut self) -> Result<Vec<(String, String)>, Mistake> {
        self.take(1);
        let mut entries: Vec<(String, String)> = Vec::new();
        self.skip_blanks();
        if self.takes("}") {
            return Ok(entries);
        }
        loop {
            self.skip_blanks();
            let key = self.key_and_equals()?;
            if entries.iter().any(|(known, _)| *known == key) {
                return Err(self.mistake(format!("the key '{key}' is there twice")));
            }
            if !self.rest.starts_with(['"', '\'']) {
                return Err(self.mistake(format!("expected a text in quotes after '{key} ='")));
            }
            entries.push((key, self.text()?));
            self.skip_blanks();
            if self.takes("}") {
                return Ok(entries);
            }
            if !self.takes(",") {
                return Err(self.mistake("expected ',' or '}' in a table in braces"));
            }
        }
    }

    /// Parses a text in quotes of any kind.
    fn text(&mut self) -> Result<String, Mistake> {
        for quotes in ["\"\"\"", "'''"] {
            if self.takes(quotes) {
                // A line feed directly after the quotes does not count.
                let _ = self.takes("\n") || self.takes("\r\n");
                return self.text_up_to(quotes);
            }
        }
        self.single_line()
    }

    fn single_line(&mut self) -> Result<String, Mistake> {
        let quote = self.take(1);
        self.text_up_to(quote)
    }

    /// Parses a text up to the closing quotes, and takes these. There are escapes in double quotes only.
    fn text_up_to(&mut self, quotes: &str) -> Result<String, Mistake> {
        let (is_long, has_escapes) = (quotes.len() == 3, quotes.starts_with('"'));
        let (begin, mut text) = (self.line, String::new());
        loop {
            if self.rest.starts_with(quotes) {
                // Up to two quotes may precede the closing ones.
                let extra = quotes.chars().next().filter(|_| is_long);
                let count = extra
                    .map_or(1, |quote| self.rest.chars().take(5).take_while(|&char| char == quote).count());
                text += self.take(count).get(..count - quotes.len()).unwrap_or_default();
                return Ok(text);
            }
            match self.rest.chars().next() {
                Some('\\') if has_escapes => {
                    self.take(1);
                    text.push(self.escape()?);
                }
                Some(char)
                    if is_text(char) || (is_long && (char == '\n' || self.rest.starts_with("\r\n"))) =>
                {
                    text += self.take(char.len_utf8());
                }
                Some(char) if char != '\n' && char != '\r' => {
                    return Err(self.mistake(format!("the control character {char:?} in a text")));
                }
                _ => return Err(Mistake { line: begin, message: "unclosed quote".to_owned() }),
            }
        }
    }

    /// Parses an escape after its backslash.
    fn escape(&mut self) -> Result<char, Mistake> {
        let mistake = self.mistake("unknown escape; a text in single quotes has none");
        let Some(kind) = self.rest.chars().next() else { return Err(mistake) };
        self.take(kind.len_utf8());
        let digits = match kind {
            'b' => return Ok('\u{8}'),
            't' => return Ok('\t'),
            'n' => return Ok('\n'),
            'f' => return Ok('\u{C}'),
            'r' => return Ok('\r'),
            '"' | '\\' => return Ok(kind),
            'u' => 4,
            'U' => 8,
            _ => return Err(mistake),
        };
        let code = self.rest.get(..digits).filter(|code| code.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let char = code.and_then(|code| char::from_u32(u32::from_str_radix(code, 16).ok()?));
        self.take(if char.is_some() { digits } else { 0 });
        char.ok_or(mistake)
    }
}

/// Whether a character may be in a text or a comment as it is.
fn is_text(char: char) -> bool {
    char == '\t' || !char.is_ascii_control()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use toml_edit::{DocumentMut, Item};

    use super::*;

    /// Names of tables, each with its keys and values.
    type Named = Vec<(String, Vec<(String, Value)>)>;

    /// The document as a library reads it. `None` if it is refused, or has other values.
    fn by_library(text: &str) -> Option<Named> {
        let document: DocumentMut = text.parse().ok()?;
        let mut tables = vec![(String::new(), Vec::new())];
        for (name, item) in document.iter() {
            match item {
                Item::Value(value) => tables[0].1.push((name.to_owned(), of_library(value)?)),
                Item::Table(table) => tables.push((name.to_owned(), entries(table)?)),
                Item::ArrayOfTables(elements) => {
                    for table in elements {
                        tables.push((name.to_owned(), entries(table)?));
                    }
                }
                Item::None => return None,
            }
        }
        tables[1..].sort_by(|one, other| one.0.cmp(&other.0));
        Some(tables)
    }

    fn entries(table: &toml_edit::Table) -> Option<Vec<(String, Value)>> {
        table.iter().map(|(key, item)| Some((key.to_owned(), of_library(item.as_value()?)?))).collect()
    }

    fn of_library(value: &toml_edit::Value) -> Option<Value> {
        match value {
            toml_edit::Value::String(text) => Some(Value::Text(text.value().clone())),
            toml_edit::Value::InlineTable(table) => {
                let entries =
                    table.iter().map(|(key, value)| Some((key.to_owned(), value.as_str()?.to_owned())));
                Some(Value::Table(entries.collect::<Option<_>>()?))
            }
            _ => None,
        }
    }

    fn by_reader(text: &str) -> Option<Named> {
        let tables = parse(text).ok()?;
        let entry = |entry: Entry| (entry.key, entry.value);
        let table = |table: Table| (table.name, table.entries.into_iter().map(entry).collect());
        let mut tables: Vec<_> = tables.into_iter().map(table).collect();
        tables[1..].sort_by(|one, other| one.0.cmp(&other.0));
        Some(tables)
    }

    fn documents() -> impl Strategy<Value = String> {
        let key = prop::sample::select(&["a", "b-1", "_", "\"q.k\"", "'x y'", "é", "7"][..]);
        let text = prop::sample::select(
            &[
                "'a'",
                "\"b\"",
                "''",
                "\"\"",
                "\"\\u00e9\\n\\\"\"",
                "'''x\n'y''\n'''",
                "\"\"\"\nz\"\" \\\\\"\"\"",
                "'\\d+'",
                "\"\"\"\"q\"\"\"\"\"",
                "'''\r\nw'''",
                "\"\\q\"",
                "'open",
                "\"\\uD800\"",
                "'t\tb'",
                "\"\u{1}\"",
                "12",
                "true",
            ][..],
        );
        let value = prop_oneof![
            6 => text.clone().prop_map(str::to_owned),
            1 => prop::collection::vec((key.clone(), text), 0..3).prop_map(|entries| {
                let entries = entries.iter().map(|(key, value)| format!("{key} = {value}"));
                format!("{{ {} }}", entries.collect::<Vec<_>>().join(", "))
            }),
        ];
        let line = prop_oneof![
            8 => (key.clone(), value).prop_map(|(key, value)| format!("{key} = {value}")),
            1 => key.clone().prop_map(|key| format!("[{key}]")),
            2 => Just("[[ s ]]  # more".to_owned()),
            1 => Just("  # a comment".to_owned()),
            1 => Just("\t".to_owned()),
            1 => Just("]".to_owned()),
        ];
        let end = prop::sample::select(&["\n", "\n", "\n", "\r\n", " # c\n"][..]);
        prop::collection::vec((line, end), 0..8)
            .prop_map(|lines| lines.into_iter().map(|(line, end)| line + end).collect())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(8 * ProptestConfig::default().cases))]

        #[test]
        fn documents_are_those_of_a_library(text in documents()) {
            prop_assert_eq!(by_reader(&text), by_library(&text), "{:?}", text);
        }
    }

    #[test]
    fn mistakes_have_their_line() {
        for (text, line, message) in [
            ("a = 'b'\n\nc = 1\n", 3, "expected a text in quotes or a table in braces"),
            ("a = 'b' c = 'd'", 1, "expected the end of the line"),
            ("a 'b'", 1, "expected '=' after the key 'a'"),
            ("a.b = 'c'", 1, "a key with a dot must be in quotes"),
            ("# x\n= 'b'", 2, "expected a key"),
            ("a = '''x\ny\n\nb = 'c'", 1, "unclosed quote"),
            ("a = '''x\ny'''\nb = c", 3, "expected a text in quotes or a table in braces"),
            ("a = \"\\d\"", 1, "unknown escape; a text in single quotes has none"),
            ("a = 'b'\na = 'c'", 2, "the key 'a' is there twice"),
            ("[t]\n[t]", 2, "the table 't' is there twice"),
            ("[[t]", 1, "expected ']]' after the name of a table"),
            ("a = { b = 'c', b = 'd' }", 1, "the key 'b' is there twice"),
            ("a = { b = 1 }", 1, "expected a text in quotes after 'b ='"),
            ("a = { b = 'c'", 1, "expected ',' or '}' in a table in braces"),
            ("a = 'b\u{1}'", 1, "the control character '\\u{1}' in a text"),
        ] {
            assert_eq!(parse(text), Err(Mistake { line, message: message.to_owned() }), "{text}");
        }
    }
}
