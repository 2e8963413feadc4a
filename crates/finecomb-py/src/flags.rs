//! Keyword arguments as options: `fields=[7], ignore_case=True` is `--fields=7 --ignore-case`.

use finecomb_command::args::named::Named;
use finecomb_command::grep::job as grep_job;
use finecomb_command::top::job as top_job;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use serde_json::Value;

/// Short names.
const SHORT: [(&str, &str); 1] = [("n", "number")];

/// Keyword arguments as options by name, in their order.
///
/// # Errors
/// If a value has a type that no flag takes.
pub(crate) fn named_options(keywords: Option<&Bound<'_, PyDict>>) -> PyResult<Named> {
    let option = |(name, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let name: String = name.extract()?;
        let value = json(&value).map_err(|error| named(value.py(), &name, &error))?;
        Ok((plain(&name).to_owned(), value))
    };
    keywords.into_iter().flatten().map(option).collect()
}

/// A value as the options read it.
fn json(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    if value.is_none() {
        return Ok(Value::Null);
    }
    if let Ok(switch) = value.cast::<PyBool>() {
        return Ok(switch.is_true().into());
    }
    match items(value)? {
        Some(items) => items.iter().map(json).collect(),
        None => text(value).map(Value::from),
    }
}

/// The name of a flag of `comb grep` or `comb top`, as a keyword argument. `name` may be an alias, or have hyphens. A name that the command does
/// not know stays as it is.
#[pyfunction]
pub(crate) fn flag_name(command: &str, name: &str) -> String {
    let long = match command {
        "top" => top_job::long_name(plain(name)),
        _ => grep_job::long_name(plain(name)),
    };
    long.map_or_else(|| name.to_owned(), |long| long.replace('-', "_"))
}

/// The name of a flag: `and` and `not` are keywords of Python, so a trailing underscore is allowed.
fn plain(name: &str) -> &str {
    let plain = name.strip_suffix('_').unwrap_or(name);
    SHORT.iter().find(|(short, _)| *short == plain).map_or(plain, |(_, long)| *long)
}

fn named(py: Python<'_>, name: &str, error: &PyErr) -> PyErr {
    PyTypeError::new_err(format!("{name}: {}", error.value(py)))
}

/// The items of a list or a tuple.
fn items<'py>(value: &Bound<'py, PyAny>) -> PyResult<Option<Vec<Bound<'py, PyAny>>>> {
    let is_list = value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>();
    if is_list { value.extract().map(Some) } else { Ok(None) }
}

/// A text, a number, a path, a time or a duration as the command reads it.
fn text(value: &Bound<'_, PyAny>) -> PyResult<String> {
    if value.is_instance_of::<PyString>() {
        return value.extract();
    }
    if value.is_instance_of::<PyInt>() || value.is_instance_of::<PyFloat>() {
        return Ok(value.str()?.to_string());
    }
    if value.hasattr("isoformat")? {
        return value.call_method0("isoformat")?.extract();
    }
    if value.hasattr("total_seconds")? {
        let seconds: f64 = value.call_method0("total_seconds")?.extract()?;
        let is_whole = seconds.fract() == 0.0;
        return Ok(if is_whole { format!("{seconds}s") } else { format!("{:.0}ms", seconds * 1e3) });
    }
    match value.call_method0("__fspath__") {
        Ok(path) => path.extract(),
        Err(_) => {
            Err(PyTypeError::new_err(format!("no flag takes a value of type {}", value.get_type().name()?)))
        }
    }
}
