//! An edit recompiles one crate: that of the pipeline.

use std::path::Path;

use crate::support;

use millstream_compiler::codegen::{EmitOptions, emit};
use millstream_compiler::driver::{BuildRequest, Built, Cache, Profile, build};
use millstream_compiler::session::{Loader, Session};

struct Disk;

impl Loader for Disk {
    fn load(&self, path: &str) -> Result<Vec<u8>, String> {
        std::fs::read(path).map_err(|error| error.to_string())
    }
}

fn build_file(file: &Path, cache: &Cache) -> Built {
    let mut session = Session::open(&file.display().to_string(), &Disk).expect("the file is there");
    let planned = session.plan().expect("the file has no mistakes");
    let options = EmitOptions { source: file.display().to_string(), folder: Default::default(), version: "0".to_owned() };
    let generated = emit(&planned.job, &planned.execution, &options);
    let request = BuildRequest { generated: &generated, source: file, profile: Profile::Flow };
    build(&request, cache, &mut |_| {}).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn an_edit_recompiles_one_crate() {
    let folder = support::fresh_folder("edit");
    let file = folder.join("word_count.flow");
    let text = std::fs::read_to_string(support::root().join("examples/word_count/word_count.flow")).expect("the example");
    std::fs::write(&file, &text).expect("written");
    // The folder that all end-to-end tests build in, so that the runtime is there already or serves them later.
    let cache = Cache::at(support::home());
    let first = build_file(&file, &cache);
    assert!(first.binary.is_file() && first.warnings.is_empty(), "{:?}", first.warnings);

    let edited = text.replace(r#"word != """#, r#"word != "the""#);
    assert_ne!(edited, text);
    std::fs::write(&file, edited).expect("written");
    let second = build_file(&file, &cache);
    let package = second.folder.file_name().expect("a name").to_string_lossy().into_owned();
    assert_eq!(second.compiled, [package]);
    assert!(second.fresh > 50, "{}", second.fresh);

    let third = build_file(&file, &cache);
    assert!(third.compiled.is_empty(), "{:?}", third.compiled);
}
