//! The tool `symbols`: `comb symbols`.

use std::fmt::Write;
use std::ops::ControlFlow;
use std::sync::Arc;

use finecomb_scan::Stop;
use rmcp::schemars::{self, JsonSchema};
use serde::Deserialize;

use super::Tool;
use crate::mcp::answer::Answer;
use crate::mcp::arguments::{PageWanted, Selection, limit, one_or_many};
use crate::mcp::context::{Context, Wanted, notes_on_faults};
use crate::mcp::excerpt::excerpt;
use crate::mcp::page::{Found, Kind, Page};
use crate::mcp::sink::{Sink, by_line};
use finecomb_command::symbols::job::{SymbolsDone, SymbolsJob};
use finecomb_command::symbols::options::SymbolOptions;
use finecomb_symbols::Kind as SymbolKind;

/// Arguments of a call.
#[derive(Deserialize, JsonSchema)]
pub(in crate::mcp) struct Symbols {
    #[serde(default)]
    list: SymbolList,
    /// parse, Foo::new, or an expression: ^parse_
    name: Option<String>,
    /// function, method, class, struct, enum, trait, macro, constant, field, …
    #[serde(default, deserialize_with = "one_or_many")]
    kinds: Vec<String>,
    #[serde(default)]
    bodies: bool,
    #[serde(flatten)]
    selection: Selection,
    #[serde(default = "default_limit", deserialize_with = "limit")]
    limit: u64,
    #[serde(flatten)]
    page: PageWanted,
}

#[derive(Clone, Copy, Default, Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum SymbolList {
    #[default]
    Definitions,
    References,
    Outline,
}

fn default_limit() -> u64 {
    200
}

impl Tool for Symbols {
    const NAME: &'static str = "symbols";
    const TITLE: &'static str = "Definitions and uses of names";
    const USES_INDEX: bool = true;
    const DESCRIPTION: &'static str = "Definitions in source code, references to a name outside of comments and strings, or outlines of \
        files, by parsing: C, C++, Go, Java, Python, Rust and 21 others. FIRST-LAST:SIGNATURE, or LINE:TEXT of \
        references";

    fn answer(self, context: &Context, stop: &Arc<Stop>) -> Result<Answer, String> {
        if self.list == SymbolList::References && self.name.is_none() {
            return Err("list=references needs a name".to_owned());
        }
        let kind = Kind::Lines("symbols");
        let wanted = Wanted { kind, limit: self.limit, after_context: 0, page: &self.page };
        let (mut page, mut notes) = context.page(&wanted)?;
        let named = context.roots.inputs(&self.selection.paths)?;
        // A page has room for one.
        let bodies = if self.bodies && self.list == SymbolList::Definitions {
            context.max_bytes(self.page.max_bytes) / 2
        } else {
            0
        };
        let mut job = SymbolsJob::with_bodies(self.options(context)?, &named, bodies)?;
        job.inputs.strip_dot = true;
        let is_ranked = self.list != SymbolList::References && self.name.is_some();
        let mut nesting = Nesting::default();
        let columns = context.limits.max_columns;
        let mut sink = Sink::new(stop, by_line, |record: &[u8]| match serde_json::from_slice(record) {
            Ok(symbol) => add(&mut page, &symbol, self.list, &mut nesting, columns, is_ranked),
            Err(_) => ControlFlow::Continue(()),
        });
        let SymbolsDone { faults, parsing } = job.run(stop, None, &mut sink)?;
        context.indexes.note_parsing(parsing);
        notes.extend(notes_on_faults(faults));
        notes.extend(context.cut_off(stop));
        Ok(page.finish(notes, stop.is_raised()))
    }
}

impl Symbols {
    fn options(&self, context: &Context) -> Result<SymbolOptions, String> {
        let kinds = self.kinds.iter().flat_map(|kinds| kinds.split(',')).map(str::parse);
        let kind = kinds.collect::<Result<_, _>>().map_err(|error| format!("kinds: {error}"))?;
        let name = self.name.clone();
        let is_reference = self.list == SymbolList::References;
        Ok(SymbolOptions {
            definition: name.clone().filter(|_| !is_reference),
            reference: name.filter(|_| is_reference),
            kind,
            ..context.symbol_options(&self.selection)
        })
    }
}

/// A symbol as `comb symbols --json` prints it.
#[derive(Deserialize)]
struct PrintedSymbol {
    path: String,
    kind: String,
    name: String,
    scope: Option<String>,
    line: u64,
    end_line: u64,
    start_byte: u64,
    end_byte: u64,
    signature: String,
    parameters: Option<String>,
    body_line: Option<u64>,
    body: Option<String>,
}

impl PrintedSymbol {
    /// Its lines as those around a result are shown, if they are wanted.
    fn add_body(&self, text: &mut String, columns: usize) {
        let (Some(body), Some(first)) = (&self.body, self.body_line) else { return };
        let mut next = first;
        for line in body.lines() {
            let _ = write!(text, "\n{next}-{}", excerpt(line.as_bytes(), 0, columns));
            next += 1;
        }
        if next <= self.end_line {
            let _ = write!(text, "\n… more: read from={next}");
        }
    }
}

/// Adds a symbol to a page.
fn add(
    page: &mut Page<'_>,
    symbol: &PrintedSymbol,
    list: SymbolList,
    nesting: &mut Nesting,
    columns: usize,
    is_ranked: bool,
) -> ControlFlow<()> {
    let depth = nesting.depth(symbol);
    let end = (symbol.end_line > symbol.line).then_some(symbol.end_line);
    let found = Found { path: symbol.path.as_bytes(), line: symbol.line, end, is_context: false };
    page.set_tier((is_ranked && symbol.kind.parse().is_ok_and(SymbolKind::is_value)).into());
    let PrintedSymbol { kind, name, signature, .. } = symbol;
    page.add(&found, || {
        let text = match list {
            SymbolList::Outline => {
                let parameters = symbol.parameters.as_deref().unwrap_or_default();
                format!("{}{kind} {name}{parameters}", " ".repeat(depth))
            }
            SymbolList::References => signature.clone(),
            SymbolList::Definitions => {
                let is_said = kind.parse().is_ok_and(|kind: SymbolKind| kind.is_said_by(signature, name));
                let kind = if is_said { String::new() } else { format!("{kind} ") };
                let scope = symbol.scope.as_ref().map_or_else(String::new, |scope| format!(" (in {scope})"));
                format!("{kind}{signature}{scope}")
            }
        };
        let mut text = excerpt(text.as_bytes(), 0, columns).into_owned();
        symbol.add_body(&mut text, columns);
        text
    })
}

/// Definitions around the last one, from the outermost on.
#[derive(Default)]
struct Nesting {
    path: String,
    ends: Vec<u64>,
}

impl Nesting {
    /// Number of definitions around the next one of a file.
    fn depth(&mut self, symbol: &PrintedSymbol) -> usize {
        if self.path != symbol.path {
            self.path.clone_from(&symbol.path);
            self.ends.clear();
        }
        while self.ends.last().is_some_and(|&end| end <= symbol.start_byte) {
            self.ends.pop();
        }
        self.ends.push(symbol.end_byte);
        self.ends.len() - 1
    }
}
