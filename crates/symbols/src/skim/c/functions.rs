//! Functions: those of a plain form are recorded and left out, and prototypes define nothing.

use std::ops::Range;

use super::super::LexedDefinition;
use super::declaration::{Declaration, Form, Last};
use super::macros::{always_defines_function, function_name, is_macro};
use super::skimmer::CSkimmer;
use super::words::{has_parameters, is_name, may_begin_function};
use crate::kind::Kind;

impl CSkimmer<'_, '_> {
    /// Leaves out the body of the function that was declared, and all of the function if it is recorded.
    pub(super) fn function_body(&mut self) -> Option<()> {
        let open = self.lexer.at;
        // In a class, it is a constructor.
        let is_invocation = self.declaration.may_be_macro(self.lexer.source) && self.class().is_none();
        if is_invocation && self.function_by_macro(open)? {
            return Some(());
        }
        let is_plain = self.is_plain_function();
        self.keep_braces()?;
        let function = std::mem::take(&mut self.declaration);
        if is_plain {
            let start = function.start.unwrap_or(open);
            self.out.take_back(start);
            if self.is_cplusplus {
                self.end_here()
            } else {
                self.out.insert_mark()
            }
            self.kept = self.lexer.at;
            let end = function.initializers.unwrap_or(open);
            let name = function.word.clone();
            let plain = self.function(function, name, start..end);
            self.out.plain.push(plain);
        }
        self.cut();
        Some(())
    }

    /// Records a function that is defined by a macro, such as `SYSCALL_DEFINE2(name, …) { … }`, whose brace is here, and leaves it out.
    /// Returns `false` if there is none.
    fn function_by_macro(&mut self, open: usize) -> Option<bool> {
        let Declaration { start: Some(start), parameters: Some(parameters), word, .. } = &self.declaration
        else {
            return Some(false);
        };
        let name = function_name(self.lexer.source, word.clone(), parameters.clone());
        let (start, Some(name)) = (*start, name) else { return Some(false) };
        let function = self.declaration.clone();
        self.take_back();
        self.body()?;
        self.kept = self.lexer.at;
        let is_function = self.lexer.next_significant() != Some(b';')
            || always_defines_function(&self.lexer.source[function.word.clone()]);
        self.out.left_out.push(start..if is_function { open } else { self.kept });
        if is_function {
            let function = self.function(function, name, start..open);
            self.out.by_macros.push(function);
        }
        self.cut();
        Some(true)
    }

    /// The definition of a function whose body ends here. White space at the end of its head is no part of it.
    fn function(&mut self, function: Declaration, name: Range<usize>, head: Range<usize>) -> LexedDefinition {
        self.out.has_inner |= !self.open.is_empty();
        let extent = head.start..self.lexer.at;
        let head = head.start..self.lexer.source[..head.end].trim_ascii_end().len().max(head.start);
        let Declaration { parameters, qualifier, .. } = function;
        LexedDefinition { kind: Kind::Function, name, head, extent, parameters, qualifier }
    }

    /// Returns `true` for `type name(…)`, which is all that a list shows of a function, for constructors and destructors, and in C for
    /// `name()`.
    fn is_plain_function(&self) -> bool {
        let source = self.lexer.source;
        let Declaration { words, last, parameters, form, tilde, word, first, qualifier, .. } =
            &self.declaration;
        let name = &source[word.clone()];
        let is_untyped =
            !self.is_cplusplus && *words == 1 && parameters.as_ref().is_some_and(|group| group.len() == 2);
        let (is_member, is_structor) = match self.open.last() {
            // What only a typedef names, or nothing, is no scope that is known here.
            Some(open) if open.is_type && (open.name.is_empty() || open.is_enum) => return false,
            Some(open) if open.is_type => (true, tilde.is_some() || source[open.name.clone()] == *name),
            _ => (false, false),
        };
        parameters.is_some()
            && *last == Last::Group
            && *form < Form::Odd
            && (*words > 1 && (tilde.is_none() || qualifier.is_some()) || is_structor || is_untyped)
            && (self.is_cplusplus || !is_member)
            && (is_structor || !is_macro(name))
            && is_name(name)
            && may_begin_function(&source[first.clone()])
    }

    /// Returns `true` for a prototype, which defines nothing. Outside of a class, a variable with its value in parentheses has its form.
    pub(super) fn is_prototype(&self) -> bool {
        let Some(parameters) = &self.declaration.parameters else { return false };
        self.is_plain_function()
            && (!self.is_cplusplus
                || self.class().is_some()
                || has_parameters(&self.lexer.source[parameters.start + 1..parameters.end - 1]))
    }
}
