//! Queries of tables.

use finecomb_top::{Field, FieldList, Measure, MeasureKind, Normalizer, Percentile, QueryOptions, SortBy};

use super::style::{NamedColumn, Style};

/// Expressions for keys, with the names of their fields. A field without a name is `None`.
pub(crate) const PATTERNS: [(&[&str], &[Option<&str>]); 4] = [
    (&["[0-9]+"], &[None]),
    (&["(?P<w>[a-z]+)(?P<n>[0-9]+)?"], &[Some("w"), Some("n")]),
    (&["([a-z])([^ ])"], &[None, None]),
    (&["(?P<w>[a-z]+)", "([0-9])([0-9])?"], &[Some("w"), None, None]),
];

/// A field of a query: a column of the table, or a group of the expression for keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QueryField {
    Column(usize),
    Group(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

#[derive(Clone, Debug)]
pub(crate) enum TableCondition {
    Number(QueryField, Operator, &'static str),
    Text(QueryField, Operator, &'static str),
    Fields(QueryField, Operator, QueryField),
    Match(QueryField, &'static str, bool),
    Present(QueryField),
    Not(Box<TableCondition>),
    All(Vec<TableCondition>),
    Any(Vec<TableCondition>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Statistic {
    Sum,
    Mean,
    Min,
    Max,
    /// In tenths of a percent.
    Percentile(u32),
    Distinct,
}

/// A query of a table.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    /// Fields of the key. Without any, it is the match of the expression, or else the record.
    pub(crate) key: Vec<QueryField>,
    /// Whether columns are named by position, in formats that allow either.
    pub(crate) prefers_positions: bool,
    /// Index of the expression for keys.
    pub(crate) pattern: Option<usize>,
    pub(crate) each: bool,
    pub(crate) missing: bool,
    pub(crate) condition: Option<TableCondition>,
    pub(crate) measures: Vec<(Statistic, QueryField)>,
    /// Conditions whose shares are measured as well.
    pub(crate) shares: Vec<TableCondition>,
    pub(crate) grep: Vec<&'static str>,
    pub(crate) vgrep: Vec<&'static str>,
    pub(crate) edits: Vec<(&'static str, &'static str)>,
    pub(crate) replaces_uuids: bool,
    pub(crate) ignore_case: bool,
    /// Modulo the number of measures.
    pub(crate) sort_by: SortBy,
    pub(crate) reverse: bool,
    pub(crate) number: usize,
    pub(crate) min_count: u64,
}

/// The text that stands for a missing field.
pub(crate) const MISSING: &str = "?";

impl Question {
    /// The fields of the expression for keys.
    pub(crate) fn groups(&self) -> &'static [Option<&'static str>] {
        self.pattern.map_or(&[], |pattern| PATTERNS[pattern].1)
    }

    pub(crate) fn by_position(&self, style: Style) -> bool {
        style.has_positions() && (self.prefers_positions || !style.has_names())
    }

    /// The field that is meant: a group goes before a column with its name or position. Without an expression for keys,
    /// columns take the place of groups.
    pub(crate) fn resolved(&self, source: QueryField, style: Style) -> QueryField {
        let groups = self.groups().len();
        match source {
            QueryField::Group(group) if groups > 0 => QueryField::Group(group % groups),
            QueryField::Column(column) if column < groups && self.by_position(style) => {
                QueryField::Group(column)
            }
            QueryField::Group(column) | QueryField::Column(column) => QueryField::Column(column),
        }
    }

    pub(crate) fn column(&self, source: QueryField, style: Style) -> NamedColumn {
        match self.resolved(source, style) {
            QueryField::Column(column) => style.column(column, self.by_position(style)),
            QueryField::Group(group) => match self.groups()[group] {
                Some(name) => {
                    NamedColumn { field: Field::named(name), typed: name.to_owned(), shown: name.to_owned() }
                }
                None => Style::Lines.column(group, true),
            },
        }
    }

    /// Number of measures, with the shares, which come last.
    pub(crate) fn measure_count(&self) -> usize {
        self.measures.len() + self.shares.len()
    }

    pub(crate) fn all_measures(&self, style: Style) -> Vec<Measure> {
        let measures = self.measures.iter().map(|&(kind, source)| self.measure(kind, source, style));
        let shares = self.shares.iter().map(|condition| self.typed(condition, style));
        measures.chain(shares.map(|typed| Measure::share(&typed).expect("a condition"))).collect()
    }

    pub(crate) fn sort_by(&self) -> SortBy {
        match self.sort_by {
            SortBy::Measure(_) if self.measure_count() == 0 => SortBy::Count,
            SortBy::Measure(measure) => SortBy::Measure(measure % self.measure_count()),
            other => other,
        }
    }

    pub(crate) fn options(&self, style: Style) -> QueryOptions {
        let key = self.key.iter().map(|&source| self.column(source, style).field);
        let (positions, names): (Vec<Field>, Vec<Field>) =
            key.partition(|field| matches!(field, Field::Position(_)));
        let list = positions.iter().map(Field::to_string).collect::<Vec<_>>().join(",");
        // The list of positions comes after the names, so it can replace them only if there are none.
        let (names, fields) = match names.is_empty() && !list.is_empty() {
            true => (Vec::new(), list.parse().expect("a list")),
            false => (
                self.key.iter().map(|&source| self.column(source, style).field).collect(),
                FieldList::default(),
            ),
        };
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        QueryOptions::default()
            .number(self.number)
            .fields(fields)
            .names(names)
            .grep(owned(&self.grep))
            .vgrep(owned(&self.vgrep))
            .sed(self.edits.iter().map(|&(text, with)| (text.to_owned(), with.to_owned())).collect())
            .input(Some(style.input()))
            .delimiter(style.delimiter())
            .has_header(style.has_header())
            .extract(self.pattern.map(|pattern| owned(PATTERNS[pattern].0)).unwrap_or_default())
            .each(self.each)
            .missing(self.missing.then(|| MISSING.to_owned()))
            .ignore_case(self.ignore_case)
            .normalize(self.replaces_uuids.then(|| Normalizer::new("uuid").expect("a kind")))
            .condition(self.condition.as_ref().map(|condition| self.typed(condition, style)))
            .measures(self.all_measures(style))
            .sort_by(self.sort_by())
            .reverse(self.reverse)
            .min_count(self.min_count)
    }

    fn measure(&self, kind: Statistic, source: QueryField, style: Style) -> Measure {
        let percentile = |tenths: u32| Percentile::parse(&format!("{}.{}", tenths / 10, tenths % 10));
        let kind = match kind {
            Statistic::Sum => MeasureKind::Sum,
            Statistic::Mean => MeasureKind::Mean,
            Statistic::Min => MeasureKind::Min,
            Statistic::Max => MeasureKind::Max,
            Statistic::Percentile(tenths) => {
                MeasureKind::Percentile(percentile(tenths).expect("a percentile"))
            }
            Statistic::Distinct => MeasureKind::Distinct,
        };
        Measure::Field { kind, field: self.column(source, style).field }
    }

    /// A condition as it is typed.
    fn typed(&self, condition: &TableCondition, style: Style) -> String {
        let field = |source: &QueryField| self.column(*source, style).typed;
        let operator = |operator: &Operator| match operator {
            Operator::Equal => "==",
            Operator::NotEqual => "!=",
            Operator::Less => "<",
            Operator::LessOrEqual => "<=",
            Operator::Greater => ">",
            Operator::GreaterOrEqual => ">=",
        };
        let joined = |parts: &[TableCondition], by: &str| {
            parts.iter().map(|part| format!("({})", self.typed(part, style))).collect::<Vec<_>>().join(by)
        };
        match condition {
            TableCondition::Number(source, op, number) => {
                format!("{} {} {number}", field(source), operator(op))
            }
            TableCondition::Text(source, op, text) => {
                format!("{} {} \"{text}\"", field(source), operator(op))
            }
            TableCondition::Fields(one, op, other) => {
                format!("{} {} {}", field(one), operator(op), field(other))
            }
            TableCondition::Match(source, text, true) => format!("{} ~ \"{text}\"", field(source)),
            TableCondition::Match(source, text, false) => format!("{} !~ '{text}'", field(source)),
            TableCondition::Present(source) => field(source),
            TableCondition::Not(part) => format!("!({})", self.typed(part, style)),
            TableCondition::All(parts) => joined(parts, " && "),
            TableCondition::Any(parts) => joined(parts, " or "),
        }
    }
}
