//! Setters of options.

/// Adds a setter for each field of a struct of options: `Options::default().field(value)`. The list must name every field.
///
/// Such a struct is `#[non_exhaustive]`, so that a new option is no breaking change; other crates cannot write its
/// literal.
///
/// ```
/// /// Options of a job.
/// #[derive(Default)]
/// #[non_exhaustive]
/// pub struct Options {
///     /// Number of repetitions. Default: 0.
///     pub times: u32,
/// }
///
/// finecomb_sys::setters! { Options { times: u32 } }
///
/// assert_eq!(Options::default().times(3).times, 3);
/// ```
#[macro_export]
macro_rules! setters {
    ($type:ident $(<$life:lifetime>)? { $($field:ident: $kind:ty),+ $(,)? }) => {
        impl $(<$life>)? $type $(<$life>)? {
            $(
                #[doc = concat!("Sets [`", stringify!($field), "`](#structfield.", stringify!($field), ").")]
                #[must_use]
                pub fn $field(mut self, $field: $kind) -> Self {
                    self.$field = $field;
                    self
                }
            )+
        }

        // Fails to compile if a field has no setter.
        const _: fn($type) = |options| {
            let $type { $($field: _),+ } = options;
        };
    };
}
