//! Renders the page, with the names of the indexes, the pattern, and the answer for browsers without scripts.

use std::sync::Arc;

use finecomb_sys::markup::escaped;
use finecomb_sys::units::Count;
use percent_encoding::{NON_ALPHANUMERIC, percent_encode};

use crate::api::{IndexRequest, IndexSite};
use crate::catalog::CatalogEntry;
use crate::problem::Problem;
use crate::query::UrlQuery;
use finecomb_text_index::{Direction, SearchAnswer};

/// Template of the page, with placeholders.
const TEMPLATE: &str = concat!(include_str!("page/head.html"), include_str!("page/index.html"));

/// Number of symbols shown before and after an occurrence.
const CONTEXT: u64 = 240;

/// Renders the page for the query of its address: `index`, `q`, and `from` or `before`.
pub(crate) fn render(site: &Arc<IndexSite>, query: &str) -> String {
    let catalog = &site.catalog;
    let query = UrlQuery::parse(query);
    let value = |name| query.as_ref().ok().and_then(|query| query.all(name).next());
    let pattern = String::from_utf8_lossy(value("q").unwrap_or_default()).into_owned();
    let name = value("index").map(|name| String::from_utf8_lossy(name).into_owned());
    let entry = match &name {
        Some(name) => catalog.by_name(name),
        None => catalog.entries().first(),
    };
    let result = match (entry, query) {
        (None, _) => {
            notice(&format!("There is no index “{}” here; choose another.", name.unwrap_or_default()))
        }
        (Some(entry), Ok(query)) if !pattern.is_empty() => {
            search(&IndexRequest::new(site, entry, query)).unwrap_or_else(|problem| notice(&problem.detail))
        }
        _ => notice("With JavaScript, this page searches as you type."),
    };
    let options: String = catalog.entries().iter().map(|listed| option(listed, entry)).collect();
    let pattern = escaped(&pattern);
    fill(TEMPLATE, &[("{{indexes}}", &*options), ("{{pattern}}", &pattern), ("{{result}}", &result)])
}

/// Replaces the placeholders of a template, which must occur in this order. The inserted text is not searched for placeholders.
fn fill(template: &str, placeholders: &[(&str, &str)]) -> String {
    let mut rest = template;
    let mut filled = String::with_capacity(2 * template.len());
    for (placeholder, text) in placeholders {
        let Some((before, after)) = rest.split_once(placeholder) else { continue };
        filled.extend([before, text]);
        rest = after;
    }
    filled.push_str(rest);
    filled
}

fn option(entry: &CatalogEntry, chosen: Option<&Arc<CatalogEntry>>) -> String {
    let is_chosen = chosen.is_some_and(|chosen| chosen.name == entry.name);
    let selected = if is_chosen { " selected" } else { "" };
    format!("<option{selected}>{}</option>", escaped(&entry.name))
}

fn notice(text: &str) -> String {
    format!("<p class=\"notice\">{}</p>", escaped(text))
}

/// Searches, and renders the answer.
fn search(request: &IndexRequest) -> Result<String, Problem> {
    let IndexRequest { site, entry, index, query, .. } = request;
    let answer = request.occurrence(CONTEXT.min(site.limits.context))?;
    let pattern = percent_encode(query.required("q")?, NON_ALPHANUMERIC);
    let link = |parameter: &str, position: u64, label: &str| {
        format!("<a href=\"?index={}&amp;q={pattern}&amp;{parameter}={position}\">{label}</a>", entry.name)
    };
    let first = index.alphabet().first_position();
    Ok(match answer.position {
        Some(position) => format!(
            "{}<p class=\"links\">{} {}</p>{}",
            facts(position, &answer),
            link("before", position, "← Previous"),
            link("from", position + 1, "Next →"),
            passage(&answer)
        ),
        None if answer.count == 0 => {
            notice(&format!("“{}” does not occur in {}.", answer.pattern, entry.name))
        }
        None => {
            let (place, link) = match direction(&answer, first) {
                Direction::FirstFrom(position) => (
                    format!("at or after position {}", Count(position)),
                    link("from", first, "From the start"),
                ),
                Direction::LastBefore(position) => {
                    let end = first + index.symbols();
                    (format!("before position {}", Count(position)), link("before", end, "From the end"))
                }
            };
            let (pattern, count) = (&answer.pattern, Count(answer.count));
            let text = format!("“{pattern}” does not occur {place}. Occurrences in all: {count}.");
            format!("{}<p>{link}</p>", notice(&text))
        }
    })
}

fn direction(answer: &SearchAnswer, first: u64) -> Direction {
    match answer.before_position {
        Some(position) => Direction::LastBefore(position),
        None => Direction::FirstFrom(answer.from.unwrap_or(first)),
    }
}

fn facts(position: u64, answer: &SearchAnswer) -> String {
    let fact = |name: &str, value: &str| format!("<div><dt>{name}</dt><dd>{value}</dd></div>");
    let line = match (answer.line, answer.column) {
        (Some(line), Some(column)) => fact("Line:column", &format!("{line}:{column}")),
        _ => String::new(),
    };
    let (position, count) = (Count(position).to_string(), Count(answer.count).to_string());
    format!("<dl>{}{}{line}</dl>", fact("Position", &position), fact("Occurrences", &count))
}

fn passage(answer: &SearchAnswer) -> String {
    let part = |text: &Option<String>| escaped(text.as_deref().unwrap_or_default()).into_owned();
    let (before, matched, after) = (part(&answer.before), part(&answer.matched), part(&answer.after));
    format!("<pre class=\"context\"><span>{before}</span><mark>{matched}</mark>{after}</pre>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inserted_text_is_not_searched_for_placeholders() {
        assert_eq!(fill("1{{a}}2{{b}}3", &[("{{a}}", "{{b}}"), ("{{b}}", "{{a}}")]), "1{{b}}2{{a}}3");
    }

    #[test]
    fn the_template_has_every_placeholder_once() {
        for placeholder in ["{{indexes}}", "{{pattern}}", "{{result}}"] {
            assert_eq!(TEMPLATE.matches(placeholder).count(), 1, "{placeholder}");
        }
        assert_eq!(TEMPLATE.matches("{{").count(), 3);
    }
}
