//! Setters of options.

/// Adds a setter for each field of a struct of options: `Options::default().field(value)`.
///
/// Such a struct is `#[non_exhaustive]`, so that a new option is no breaking change; other crates cannot write its
/// literal. It is defined in the macro, with the defaults of its fields if they are not those of their types, or its fields are listed
/// again.
///
/// ```
/// finecomb_sys::setters! {
///     /// Options of a job.
///     #[derive(Default)]
///     #[non_exhaustive]
///     pub struct Options {
///         /// Number of repetitions.
///         pub times: u32,
///     }
/// }
///
/// finecomb_sys::setters! {
///     /// Options with defaults of their own.
///     #[non_exhaustive]
///     pub struct Limits {
///         /// Number of results.
///         pub results: u32 = 100,
///     }
/// }
///
/// assert_eq!(Options::default().times(3).times, 3);
/// assert_eq!(Limits::default().results, 100);
/// ```
#[macro_export]
macro_rules! setters {
    (
        $(#[$of_type:meta])*
        pub struct $type:ident $(<$life:lifetime>)? {
            $($(#[$of_field:meta])* pub $field:ident: $kind:ty),+ $(,)?
        }
    ) => {
        $(#[$of_type])*
        pub struct $type $(<$life>)? {
            $($(#[$of_field])* pub $field: $kind),+
        }

        $crate::setters! { $type $(<$life>)? { $($field: $kind),+ } }
    };
    (
        $(#[$of_type:meta])*
        pub struct $type:ident $(<$life:lifetime>)? {
            $($(#[$of_field:meta])* pub $field:ident: $kind:ty = $default:expr),+ $(,)?
        }
    ) => {
        $crate::setters! {
            $(#[$of_type])*
            pub struct $type $(<$life>)? { $($(#[$of_field])* pub $field: $kind),+ }
        }

        impl $(<$life>)? Default for $type $(<$life>)? {
            fn default() -> Self {
                Self { $($field: $default),+ }
            }
        }
    };
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
