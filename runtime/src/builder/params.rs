//! Params: flags of the program that a pipeline is, `--since 2026-01-01`, typed and in `--help`.
//!
//! They are declared before the pipeline has any stream, which is built when their values are known: closures take them as any other
//! value of the program, at no cost per row.

use std::process::ExitCode;

use super::Pipeline;
use super::names::keep;
use crate::error::{JobError, JobResult};
use crate::flags::FLAGS;
use crate::handle::{JobEnd, JobHandle};
use crate::params::{FromParam, ParamSpec, ParamValues, flag_of};
use crate::run_options::RunOptions;

impl Pipeline {
    /// A flag that must be given, with what it is for: `.param::<Timestamp>("since", "Orders before are left out.")`. Its value is there
    /// in [`main_with`](Self::main_with).
    #[must_use]
    #[track_caller]
    pub fn param<T: FromParam>(self, name: &str, doc: &str) -> Self {
        self.declare(name, T::type_name(), None, doc)
    }

    /// A flag that may be left out. `default` is written as the flag would be.
    #[must_use]
    #[track_caller]
    pub fn param_or<T: FromParam>(self, name: &str, default: &str, doc: &str) -> Self {
        if T::from_param(default).is_none() {
            let text = format!("the default of `{name}` is no {}, like `{}`: `{default}`", T::type_name(), T::EXAMPLE);
            self.check(|parts, at| parts.mistake(&super::rows::origin(at, name), &text));
        }
        self.declare(name, T::type_name(), Some(default), doc)
    }

    /// A flag that may be left out, and then has no value: [`ParamValues::optional`].
    #[must_use]
    #[track_caller]
    pub fn param_if<T: FromParam>(self, name: &str, doc: &str) -> Self {
        self.declare(name, format!("{}?", T::type_name()), None, doc)
    }

    #[track_caller]
    fn declare(self, name: &str, ty: String, default: Option<&str>, doc: &str) -> Self {
        let spec = ParamSpec { name: keep(name), ty: keep(&ty), default: default.map(keep), doc: keep(doc) };
        self.check(|parts, at| {
            let letters = name.starts_with(|c: char| c.is_ascii_lowercase())
                && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
            let mistake = if !letters {
                format!("`{name}` is no name of a param: it takes small letters, digits and `_`, and begins with a letter")
            } else if FLAGS.iter().any(|(flag, ..)| *flag == flag_of(name)) {
                format!("`--{}` is a flag that every job has: give the param another name", flag_of(name))
            } else if parts.params.iter().any(|param| param.name == name) {
                format!("there are two params `{name}`")
            } else {
                return parts.params.push(spec);
            };
            parts.mistake(&super::rows::origin(at, name), &mistake);
        });
        self
    }

    /// The values of params come from the command line alone where a pipeline is built when they are known.
    pub(super) fn params_are_none(&self) -> JobResult<()> {
        match self.parts.borrow().params.first() {
            None => Ok(()),
            Some(param) => Err(JobError::usage(format!(
                "the pipeline has a param, `{}`: its streams are built in `main_with`, `start_with` or `run_with`, where the value is known",
                param.name
            ))),
        }
    }

    /// The program of a pipeline with [params](Self::param): `build` adds the streams when their values are known.
    ///
    /// ```no_run
    /// # extern crate millstream_runtime as millstream;
    /// # use millstream::builder::Pipeline;
    /// # use millstream::prelude::*;
    /// # #[derive(Clone, Record, State)]
    /// # pub struct Order { amount: i64 }
    /// fn main() -> std::process::ExitCode {
    ///     Pipeline::new("large")
    ///         .param_or::<String>("orders", "orders/*.jsonl", "Where the orders are.")
    ///         .param::<i64>("least", "Smaller orders are left out.")
    ///         .main_with(|pipeline, params| {
    ///             let least: i64 = params.get("least")?;
    ///             let orders = pipeline.json_files::<Order>("orders", &params.get::<String>("orders")?);
    ///             orders.filter(move |order| order.amount >= least).into_json_files("large");
    ///             Ok(())
    ///         })
    /// }
    /// ```
    pub fn main_with(self, build: impl FnOnce(&Pipeline, &ParamValues) -> JobResult<()>) -> ExitCode {
        self.with_args(std::env::args_os().skip(1), build)
    }

    /// The same with these arguments (without the name of the program).
    pub fn with_args(
        self,
        args: impl IntoIterator<Item = std::ffi::OsString>,
        build: impl FnOnce(&Pipeline, &ParamValues) -> JobResult<()>,
    ) -> ExitCode {
        crate::entry::run_built(self.shell(), args, |shell, options| {
            build(&self, &ParamValues::resolve(shell.params, &options.params)?)?;
            Ok((self.alone()?, options))
        })
    }

    /// Starts a pipeline with params in this process: their values are those of [`RunOptions::param`].
    pub fn start_with(
        self,
        options: RunOptions,
        build: impl FnOnce(&Pipeline, &ParamValues) -> JobResult<()>,
    ) -> JobResult<JobHandle> {
        let params = ParamValues::resolve(self.shell().params, &options.params)?;
        build(&self, &params)?;
        self.launch(options)
    }

    /// The same, to its end.
    pub fn run_with(
        self,
        options: RunOptions,
        build: impl FnOnce(&Pipeline, &ParamValues) -> JobResult<()>,
    ) -> JobResult<JobEnd> {
        self.start_with(options, build)?.wait()
    }
}
