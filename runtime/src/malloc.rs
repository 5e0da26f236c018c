//! The memory allocator of jobs whose state is on disk: what they have freed goes back to the system.
//!
//! glibc gives each thread a heap of its own and keeps what was freed there; behind a checkpoint of some gigabytes, that is more than the
//! job needs (docs/performance.md has figures). Its settings are read from the environment when a process begins, so the process
//! begins once more with them. It stays the same process: its number, its parent, its open files.

use std::os::unix::process::CommandExt;
use std::process::Command;

/// Two heaps; large blocks are mapped, and go when they are freed; and the ends of heaps are given back.
const SETTINGS: [(&str, &str); 3] =
    [("MALLOC_ARENA_MAX", "2"), ("MALLOC_MMAP_THRESHOLD_", "131072"), ("MALLOC_TRIM_THRESHOLD_", "131072")];

/// Begins the process anew with these settings, unless it has some of whoever started it. Call it before anything else is done.
pub(crate) fn give_back_what_is_freed() {
    let own = |(name, _): &(&str, &str)| std::env::var_os(name).is_some();
    if SETTINGS.iter().any(own) || std::env::var_os("GLIBC_TUNABLES").is_some() {
        return;
    }
    let mut args = std::env::args_os();
    if let (Ok(binary), Some(name)) = (std::env::current_exe(), args.next()) {
        // It comes back only if it failed, and then the job takes more memory, which is better than no job.
        let _ = Command::new(binary).arg0(name).args(args).envs(SETTINGS).exec();
    }
}
