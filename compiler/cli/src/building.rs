//! What `build` and `run` share: from a `.flow` file to a binary in the cache, with progress for those who watch.

use std::io::IsTerminal;
use std::path::Path;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use millstream_compiler::codegen::{EmitOptions, GeneratedCrate, emit};
use millstream_compiler::driver::{self, BuildError, BuildRequest, Built, Cache, Profile, Progress};
use millstream_compiler::session::Planned;

use crate::console::Console;

/// The crate of a planned job.
pub fn generate(planned: &Planned, file: &str) -> GeneratedCrate {
    let options = EmitOptions {
        source: file.to_owned(),
        folder: std::env::current_dir().unwrap_or_default(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    emit(&planned.job, &planned.execution, &options)
}

/// Builds it, and shows what takes time.
pub fn build(generated: &GeneratedCrate, file: &str, profile: Profile, console: &Console) -> Result<Built, BuildError> {
    let cache = Cache::from_environment()?;
    let request = BuildRequest { generated, source: Path::new(file), profile };
    let mut view = View::new(console);
    let built = driver::build(&request, &cache, &mut |progress| view.show(progress));
    view.end();
    if let Ok(built) = &built {
        built.rust_warnings.iter().for_each(|warning| console.message(warning.trim_end()));
    }
    built
}

/// A short build says nothing; a long one shows a bar on a terminal, else a line now and then.
struct View<'a> {
    console: &'a Console,
    started: Instant,
    bar: Option<ProgressBar>,
    terminal: bool,
    /// When the last line was written, where there is no bar.
    said: Option<Instant>,
}

/// A build shorter than this passes in silence.
const PATIENCE: Duration = Duration::from_millis(1500);
/// Lines come this far apart.
const PAUSE: Duration = Duration::from_secs(10);

impl<'a> View<'a> {
    fn new(console: &'a Console) -> Self {
        View { console, started: Instant::now(), bar: None, terminal: std::io::stderr().is_terminal(), said: None }
    }

    fn show(&mut self, progress: Progress) {
        match progress {
            Progress::Waiting => self.console.message("Waiting for another build to end .."),
            Progress::Fetching => self.console.message("Fetching the runtime's dependencies .."),
            // A pipeline alone, with the runtime in place, is quick.
            Progress::Compiling { done, total, .. } if done + 1 >= total => {
                if let Some(bar) = &self.bar {
                    bar.set_position(done as u64);
                }
            }
            Progress::Compiling { done, total, name } if self.started.elapsed() >= PATIENCE => {
                if self.terminal {
                    self.advance_bar(done, total, name)
                } else {
                    self.say(done, total)
                }
            }
            Progress::Compiling { .. } => {}
        }
    }

    fn advance_bar(&mut self, done: usize, total: usize, name: String) {
        let bar = self.bar.get_or_insert_with(|| {
            self.console.message("Building the runtime: once per version; later builds take about a second.");
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} crates, {elapsed}  {wide_msg}") {
                bar.set_style(style);
            }
            bar
        });
        bar.set_length(total as u64);
        bar.set_position(done as u64);
        bar.set_message(name);
    }

    fn say(&mut self, done: usize, total: usize) {
        match self.said {
            None => {
                self.console.message(format_args!(
                    "Building the runtime ({total} crates): once per version; later builds take about a second."
                ));
            }
            Some(last) if last.elapsed() < PAUSE => return,
            Some(_) => self.console.message(format_args!("  {done} of {total} crates")),
        }
        self.said = Some(Instant::now());
    }

    fn end(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}
