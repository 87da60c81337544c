//! Shows that the engine's tests can fail: breaks the engine in a known way, and wants a test to notice.
//!
//! `cargo run -p floodmark-testkit --bin mutants [NAME...]`
//!
//! Each mutant is one text of the engine replaced by another, in a copy of the crate beneath the target folder.
//! The whole engine must pass there first. A mutant that does not compile has shown nothing, and one whose text is
//! not found exactly once is out of date: both are errors, as is one that survives.

#![expect(clippy::print_stdout, reason = "it reports on the terminal")]

mod table;

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    process::{Command, ExitCode, Output},
    time::Instant,
};
use table::{MUTANTS, Mutant};

/// Property tests find a mutant within few cases, or would be poor tests; nobody reads what they shrink it to.
const CASES: &str = "128";

fn main() -> io::Result<ExitCode> {
    let wanted: Vec<String> = env::args().skip(1).collect();
    let copy = Copy::new()?;
    let whole = copy.test(&[])?;
    if !whole.status.success() {
        println!("{}\n{}", String::from_utf8_lossy(&whole.stderr), String::from_utf8_lossy(&whole.stdout));
        println!("the engine itself fails its tests: mend that first");
        return Ok(ExitCode::FAILURE);
    }
    let mut failed = 0;
    let mut tried = 0;
    for mutant in MUTANTS.iter().filter(|mutant| wanted.is_empty() || wanted.iter().any(|w| w == mutant.name))
    {
        let begun = Instant::now();
        let fate = copy.try_mutant(mutant)?;
        println!("{:32} {fate} ({:.1} s)", mutant.name, begun.elapsed().as_secs_f64());
        tried += 1;
        failed += u32::from(!fate.starts_with("killed"));
    }
    println!("{tried} mutants, {failed} not killed");
    Ok(if failed == 0 && tried > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A workspace of its own with the engine and what its tests need.
struct Copy {
    root: PathBuf,
}

impl Copy {
    fn new() -> io::Result<Self> {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let program = env::current_exe()?;
        let target = program.ancestors().nth(2).ok_or_else(|| io::Error::other("no target folder"))?;
        let root = target.join("mutants");
        fs::create_dir_all(&root)?;
        fs::copy(source.join("Cargo.lock"), root.join("Cargo.lock"))?;
        let manifest = fs::read_to_string(source.join("Cargo.toml"))?;
        let members = r#"members = ["crates/*", "bench"]"#;
        if !manifest.contains(members) {
            return Err(io::Error::other(format!("the workspace's manifest no longer has {members}")));
        }
        fs::write(root.join("Cargo.toml"), manifest.replace(members, r#"members = ["crates/*"]"#))?;
        for part in ["floodmark", "floodmark-testkit"] {
            let to = root.join("crates").join(part);
            if to.exists() {
                fs::remove_dir_all(&to)?;
            }
            copy_folder(&source.join("crates").join(part), &to)?;
        }
        Ok(Self { root })
    }

    /// What became of a mutant, in words.
    fn try_mutant(&self, mutant: &Mutant) -> io::Result<String> {
        let file = self.root.join("crates/floodmark/src").join(mutant.file);
        let original = fs::read_to_string(&file)?;
        let mut broken = original.clone();
        for (from, to) in mutant.edits {
            let found = broken.matches(from).count();
            if found != 1 {
                return Ok(format!("OUT OF DATE: its text is there {found} times: {from}"));
            }
            broken = broken.replace(from, to);
        }
        fs::write(&file, broken)?;
        let fate = self.fate();
        fs::write(&file, original)?;
        fate
    }

    fn fate(&self) -> io::Result<String> {
        let built = self.test(&["--no-run"])?;
        if !built.status.success() {
            return Ok(format!("DOES NOT COMPILE\n{}", String::from_utf8_lossy(&built.stderr)));
        }
        let run = self.test(&[])?;
        if run.status.success() {
            return Ok("SURVIVED".into());
        }
        let output = String::from_utf8_lossy(&run.stdout);
        let failures: Vec<_> = output.lines().filter_map(|line| line.strip_suffix(" ... FAILED")).collect();
        let first = failures.first().and_then(|line| line.strip_prefix("test ")).unwrap_or("none by name");
        Ok(format!("killed by {} tests, {first} among them", failures.len()))
    }

    /// Stops at the first test binary that fails, as cargo does.
    fn test(&self, more: &[&str]) -> io::Result<Output> {
        Command::new(env!("CARGO"))
            .args(["test", "--quiet", "--offline", "-p", "floodmark", "--test", "model", "--test", "seed"])
            .args(more)
            .args(if more.is_empty() { &["--", "--format=pretty"][..] } else { &[] })
            .current_dir(&self.root)
            .env("CARGO_TARGET_DIR", self.root.join("target"))
            .env("PROPTEST_CASES", CASES)
            .env("PROPTEST_MAX_SHRINK_ITERS", "0")
            // Each mutant is built once and run once: what a debugger needs would take longer than the tests.
            .env("CARGO_PROFILE_DEV_DEBUG", "0")
            .env("RUST_BACKTRACE", "0")
            .output()
    }
}

fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &to)?;
        } else {
            fs::copy(entry.path(), to)?;
        }
    }
    Ok(())
}
